"use strict";

const WORDS = {
  en: {
    other: "Deutsch", theme: "Dark or light", key: "API key", from: "From", to: "To", swap: "Swap languages",
    text: "Text", translation: "Translation", copy: "Copy", copied: "Copied.", candidates: "Possible translations",
    score: "score", attention: "Where the model looks", looks: (character, source) => `“${character}”: ${source}`,
    hint: "Point at the translation, or move in it with ← and →.", end: "end",
    errors: { 0: "The server does not answer. It is tried again when you type." },
  },
  de: {
    other: "English", theme: "Dunkel oder hell", key: "API-Schlüssel", from: "Von", to: "Nach",
    swap: "Sprachen tauschen", text: "Text", translation: "Übersetzung", copy: "Kopieren", copied: "Kopiert.",
    candidates: "Mögliche Übersetzungen", score: "Wert", attention: "Wohin das Modell schaut",
    looks: (character, source) => `„${character}“: ${source}`, end: "Ende",
    hint: "Auf die Übersetzung zeigen, oder mit ← und → darin gehen.",
    errors: {
      0: "Der Server antwortet nicht. Beim Tippen wird es noch einmal versucht.",
      400: "Der Server kann diesen Text nicht übersetzen.",
      403: "Der API-Schlüssel fehlt oder ist falsch.",
      413: "Der Text ist zu lang. Bitte in Teilen übersetzen.",
      429: "Der Server hat zu viel zu tun. Bitte in ein paar Sekunden noch einmal versuchen.",
      500: "Beim Server ist ein Fehler aufgetreten.",
      504: "Die Übersetzung hat zu lange gedauert. Bitte einen kürzeren Text versuchen.",
    },
  },
};
const PAUSE_MS = 300;
const MOST_ALTERNATIVES = 4;
const SHOWN_WEIGHT = 0.1;

const $ = (id) => document.getElementById(id);
let words = WORDS[navigator.language.startsWith("de") ? "de" : "en"];
let languages = [];
let settings = { charLimit: 0, keyRequired: false, maxAlternatives: 0 };
let running = new AbortController();
let timer = 0;
let places = []; // what the cursor can stand on: {element, sentence, index}
let cursor = -1;

function element(tag, text, className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}

function showWords() {
  document.documentElement.lang = words === WORDS.de ? "de" : "en";
  for (const shown of document.querySelectorAll("[data-word]")) shown.textContent = words[shown.dataset.word];
  for (const shown of document.querySelectorAll("[data-label]")) shown.ariaLabel = words[shown.dataset.label];
  $("words").textContent = words.other;
  $("words").lang = words === WORDS.de ? "en" : "de";
  showLanguages($("source").value, $("target").value);
  showCount();
}

function showLanguages(source, target) {
  const names = new Intl.DisplayNames(document.documentElement.lang, { type: "language", fallback: "none" });
  const option = ({ code, name }) => {
    let shown;
    try { shown = names.of(code); } catch { /* no code that the browser accepts */ }
    return new Option(shown ?? name, code);
  };
  const sources = languages.filter((language) => language.targets.length);
  $("source").replaceChildren(...sources.map(option));
  if (source) $("source").value = source;
  const targets = languages.find((language) => language.code === $("source").value)?.targets ?? [];
  $("target").replaceChildren(...languages.filter(({ code }) => targets.includes(code)).map(option));
  if (targets.includes(target)) $("target").value = target;
  const back = languages.find((language) => language.code === $("target").value)?.targets ?? [];
  $("swap").disabled = !back.includes($("source").value);
  $("text").lang = $("source").value;
  $("output").lang = $("target").value;
}

function showCount() {
  const number = (value) => value.toLocaleString(document.documentElement.lang);
  $("count").textContent = `${number([...$("text").value].length)} / ${number(settings.charLimit)}`;
}

function showError(status, text) {
  $("error").textContent = words.errors[status] ?? text;
}

function clearOutput() {
  $("output").replaceChildren();
  $("output").ariaBusy = "false"; // a translation that ran is given up
  $("details").hidden = true;
  $("error").textContent = "";
  places = [];
  cursor = -1;
}

/** The events of a response, as [name, content]. */
async function* eventsOf(response) {
  // Older versions of Safari cannot go over a stream with `for await`.
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (waiting + part.value).split("\n\n");
      waiting = events.pop();
      for (const event of events) {
        const [name, data] = event.split("\n").map((line) => line.slice(line.indexOf(":") + 2));
        yield [name, JSON.parse(data)];
      }
    }
  } finally {
    await reader.cancel(); // the caller may stop before the end
  }
}

async function translate() {
  running.abort(); // the server frees the place of a request whose client leaves
  const own = running = new AbortController();
  clearOutput();
  if (!$("text").value.trim()) return;
  const parameters = new URLSearchParams({
    q: $("text").value, source: $("source").value, target: $("target").value,
    alternatives: Math.min(settings.maxAlternatives, MOST_ALTERNATIVES), api_key: $("key").value,
  });
  $("output").ariaBusy = "true";
  try {
    const response = await fetch("translate/stream", { method: "POST", body: parameters, signal: own.signal });
    if (!response.ok) return showError(response.status, (await response.json()).error);
    for await (const [name, content] of eventsOf(response)) {
      if (own.signal.aborted) return;
      show(name, content);
    }
    $("announcement").textContent = $("output").textContent;
  } catch (error) {
    if (error.name !== "AbortError") showError(0, error.message);
  } finally {
    if (own === running) $("output").ariaBusy = "false";
  }
}

function show(name, content) {
  const output = $("output");
  const isDraft = output.lastChild?.className === "draft";
  if (name === "gap") output.append(content.text);
  if (name === "draft" && isDraft) output.lastChild.append(content.text);
  if (name === "draft" && !isDraft) output.append(element("span", content.text, "draft"));
  if (name === "error") showError(content.status, content.error);
  if (name !== "sentence") return;
  if (isDraft) output.lastChild.remove();
  const best = content.candidates[0].text;
  const shown = element("span", content.attention ? "" : best, "sentence");
  if (content.attention) {
    const characters = content.attention.target.slice(0, -1); // without the end symbol
    shown.append(...characters.map((character) => element("span", character)));
  }
  for (const [index, place] of (content.attention ? [...shown.children] : [shown]).entries()) {
    const number = places.push({ element: place, sentence: shown, content, index }) - 1;
    place.addEventListener("pointerenter", () => moveTo(number));
  }
  output.append(shown);
  if (places.length && cursor < 0) showCandidates(places[0]);
}

function moveTo(number) {
  places[cursor]?.element.classList.remove("cursor");
  cursor = Math.max(0, Math.min(number, places.length - 1));
  const place = places[cursor];
  if (!place) return;
  if (place.content.attention) place.element.classList.add("cursor");
  showCandidates(place);
  showAttention(place);
}

function showCandidates({ sentence, content }) {
  for (const other of document.querySelectorAll(".sentence")) other.classList.toggle("chosen", other === sentence);
  $("details").hidden = false;
  $("attention").hidden = !content.attention;
  $("candidates").replaceChildren(...content.candidates.map(({ text, score }) => {
    const item = element("li", `${text} `);
    item.append(element("span", `(${words.score} ${score.toFixed(2)})`));
    return item;
  }));
}

function showAttention({ content, index }) {
  if (!content.attention) return;
  const { source, target, weights } = content.attention;
  $("mirror").replaceChildren(...source.map((character, place) => {
    const shown = element("span", character);
    shown.style.setProperty("--weight", weights[index][place]);
    return shown;
  }));
  const looked = source.map((character, place) => [character === "⏎" ? words.end : character, weights[index][place]])
    .filter(([, weight]) => weight >= SHOWN_WEIGHT).sort((a, b) => b[1] - a[1])
    .map(([character, weight]) => `${character} ${Math.round(100 * weight)} %`);
  $("looked-at").textContent = words.looks(target[index], looked.join(", "));
}

function changed() {
  showCount();
  clearTimeout(timer);
  timer = setTimeout(translate, PAUSE_MS);
}

$("text").addEventListener("input", changed);
$("key").addEventListener("input", changed);
for (const id of ["source", "target"]) $(id).addEventListener("change", () => {
  showLanguages($("source").value, $("target").value);
  translate();
});
$("swap").addEventListener("click", () => {
  const text = $("output").textContent;
  showLanguages($("target").value, $("source").value);
  if (text) $("text").value = text;
  changed();
});
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("output").textContent);
  $("announcement").textContent = words.copied;
});
$("words").addEventListener("click", () => {
  words = words === WORDS.de ? WORDS.en : WORDS.de;
  showWords();
  if (places.length) moveTo(cursor); // what it shows has words, too
});
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const own = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = (root.dataset.theme ?? own) === "dark" ? "light" : "dark";
});
$("output").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  moveTo(cursor + step);
});

(async () => {
  showWords();
  $("copy").hidden = !navigator.clipboard; // browsers have it only for HTTPS and for this machine
  try {
    const answers = ["languages", "frontend/settings"].map(async (path) => (await fetch(path)).json());
    [languages, settings] = await Promise.all(answers);
  } catch (error) {
    return showError(0, error.message);
  }
  $("key-line").hidden = !settings.keyRequired;
  showLanguages(settings.language.source.code, settings.language.target.code);
  showCount();
  if ($("text").value) translate(); // a browser keeps the text when the page is loaded again
})();
