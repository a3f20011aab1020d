"""Where the thesis's text, the thesis's code and this code differ, as a page of Markdown."""

from typing import NamedTuple

from bytenet.markdown import table


class Difference(NamedTuple):
    """A row of the page.

    Attributes:
        where: section, equation, figure or table of the thesis.
        text: what it says; "" where it says nothing.
        code: what the code behind it does; "" where it has nothing to say, or does as the text.
        here: what this project does.
        settings: what decides it: dotted keys, or "preset NAME".
    """

    where: str
    text: str
    code: str
    here: str
    settings: tuple[str, ...] = ()


DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    "The network": (
        Difference(
            "2.6.2, fig. 2.6.4", "The decoder's kernel has 5 taps, masked, so that 3 are left.", "A kernel of 3 taps.",
            "3 taps. The causal convolution has no weights for the future.", ("model.decoder_kernel_size",),
        ),
        Difference(
            "2.6.3", "No layer needs a bias or a gain: what follows it does not see them.",
            "A bias where no normalisation follows, the last map included.",
            "As the code. Neither layer normalisation nor the softmax undoes a bias that differs by channel; "
            "`tests/layers/test_residual.py` has the places.",
        ),
        Difference(
            "2.4, 2.6.3", "A gain γ in the formulas, which a ReLU and a linear map make superfluous.",
            "γ is 1 and not trained.",
            "As the code; `tests/layers/test_normalization.py`.",
        ),
        Difference(
            "2.6", "", "Padding takes part in convolutions and statistics.",
            "Padding is kept out, so that a sentence's result does not depend on its batch; `false` lets it in. Then "
            "it is measured and translated with as much padding as in training: with other padding, ByteNet's error on "
            "the test digits was .36 to .40 where it is .29 to .32, `tests/decoding/test_translator.py`.",
            ("model.mask_padding",),
        ),
        Difference(
            "2.6.3", "The target is as long as the source.",
            "As long as the padded pair: in evaluation, the source tells how long the reference is.",
            "⌈1.2 · n + 24⌉ symbols for a source of n. `pair` is the thesis's; its evaluations say "
            "`reference_lengths_known`.",
            ("model.length_rule", "model.unfold_scale", "model.unfold_offset"),
        ),
        Difference(
            "2.6.3", "Encoder output and target are concatenated.", "", "The same; or added.", ("model.join",),
        ),
        Difference(
            "3.4.2", "The run of Simplified ByteNet on Europarl has d = 400.", "d = 200.",
            "200, the variant's own width, unless another is given.", ("model.variant", "model.dim"),
        ),
        Difference(
            "2.6, 3.4, 3.5", "ByteNet, the same without normalisation, Simplified and SELU ByteNet.",
            "Also Simplified without normalisation or with SELU, and the paper's second version (v2), never reported.",
            "All seven; `tests/models/test_bytenet_variants.py`.", ("model.variant",),
        ),
        Difference(
            "2.6.3", "", "Each block keeps the last inputs of its convolution in a queue of its own.",
            "One ring over time for all blocks; the same numbers, `tests/models/test_bytenet_step.py`.",
        ),
    ),
    "Normalisation and first weights": (
        Difference(
            "2.2.15, 3.5.2", "Uniform: He for ReLU, ±√(6 / fan-in); LeCun for SELU, ±√(3 / fan-in).",
            "Uniform ± (k · in · out)^(−1/4) for any convolution, and ± 1 / √rows for embeddings. No published "
            "branch has anything else for SELU, so how the SELU runs began is not known.",
            "`auto`: as the text where an activation follows; what a block adds is scaled down by the depth, and the "
            "head is small. `he`, `lecun` and `thesis_code` give the others.",
            ("model.initializer",),
        ),
        Difference(
            "3.5", "The sum for SELU runs over H · k = 2,000 inputs.", "",
            "At d = 400 it is 1,000 in the encoder (5 taps of 200) and 1,200 in the decoder (3 of 400).",
            ("model.initializer",),
        ),
        Difference(
            "2.4", "ε is not given.", "1e-8 in both normalisations; 1e-5 in an earlier, fused version.", "1e-5.",
            ("model.norm_epsilon",),
        ),
        Difference(
            "2.4.1", "The running statistics keep a share λ.", ".99 a step; they begin at mean 0 and variance 1.",
            "The same.", ("model.batch_norm_momentum",),
        ),
        Difference(
            "2.4.1", "Statistics come from training batches.",
            "Metrics are built before the optimiser, and of two updates of one variable the last built wins: each "
            "step also runs the encoder on a test batch, and the running statistics are the test set's.",
            "Training batches alone. The leak is not copied; the notebook `why-bytenet-is-slow` measures what it "
            "costs in time.",
        ),
        Difference(
            "2.4.1", "Translation uses running statistics.",
            "Metrics and searches in training use the batch's; a restored model uses the running ones.",
            "Running ones. `batch` gives the thesis's curves.", ("evaluation.batch_norm_statistics",),
        ),
        Difference(
            "2.4", "", "Batch normalisation is written out in small operations (not fused).",
            "One layer with a mask and its gradient written out; `tests/layers/test_normalization.py`.",
        ),
    ),
    "Training": (
        Difference(
            "2.1.6, 3.2", "Cross entropy, summed over a sentence.", "Summed over a sentence, averaged over the batch; "
            "what is plotted as cross entropy is nats a sentence.",
            "`character` (nats a character) or `sentence`. Both are logged: `cross_entropy` and "
            "`sentence_cross_entropy` of continuous.csv.",
            ("training.loss",),
        ),
        Difference(
            "3.3.1", "Adam.", "The trainer's default is MaxProp with β₂ .99; every ByteNet script of the figures "
            "asks for Adam (.9, .999, 1e-8). MaxProp is left in scripts without a reported result.",
            "Adam with the same three numbers. MaxProp is not built.",
            ("training.beta_1", "training.beta_2", "training.epsilon"),
        ),
        Difference(
            "3.6.1", "",
            "The attention baseline gives Adam no β₂, so it has MaxProp's: .99.",
            ".99 in the preset of that baseline, .999 elsewhere.", ("training.beta_2", "preset digits-attention"),
        ),
        Difference(
            "3.3", "300 epochs (digits, speed).",
            "The last epoch is one more: for 300, 120 and 12 there are 301, 121 and 13.",
            "The number given is the number run; presets have 13, 121 and 301.", ("training.epochs",),
        ),
        Difference(
            "3.3.2", "13 epochs of Europarl.", "ByteNet's script says 15 and more, the figure ends at 13.",
            "13.", ("training.epochs", "preset europarl"),
        ),
        Difference(
            "3.3", "No dropout, decay or early stopping.",
            "The same; no clipping, warm-up, label smoothing or averages of weights either.",
            "Clipping at a norm of 1; the rest is off but can be had. `digits-thesis` has no clipping.",
            ("training.clip_norm", "training.schedule", "training.warmup_steps", "training.label_smoothing",
             "training.ema_momentum", "training.early_stopping_patience", "model.dropout", "preset digits-thesis"),
        ),
        Difference(
            "–", "", "The model of the last step is kept.",
            "The best on the validation set; `last` where nothing may be chosen.", ("training.keep_model",),
        ),
        Difference(
            "3.2", "Training is watched on the test set.", "",
            "On a validation set. (The experiments that show the thesis's curves watch its test set, too, and keep the "
            "last model, so that nothing is chosen by it.)",
            ("data.validation_years", "data.validation_seed"),
        ),
        Difference(
            "3.2", "Random mini-batches are measured all along.",
            "A thread measures every 60 seconds (digits 1, attention 20) while training goes on, so the points of "
            "a curve depend on the machine; the training value is that of a fresh batch.",
            "Every so many seconds or steps, between two steps of training; training batches only if asked for.",
            ("evaluation.continuous_every_seconds", "evaluation.continuous_every_steps",
             "evaluation.continuous_train", "evaluation.continuous_batch_size"),
        ),
        Difference(
            "–", "", "A checkpoint every 600 seconds (digits 30, attention 60), five kept.",
            "Every 600 seconds or so many steps, three kept; a resumed run ends as an unbroken one.",
            ("training.checkpoint_every_seconds", "training.checkpoint_every_steps", "training.keep_checkpoints"),
        ),
        Difference(
            "–", "", "An epoch is ⌈N / B⌉ steps; what is left in the queues goes over into the next.",
            "An epoch holds every pair once. Each bucket's last batch is filled up with rows that count nothing.",
            ("data.batch_size", "data.batch_chars"),
        ),
        Difference(
            "–", "", "The acceptance test of the code: ten digits learned with MaxProp, .05, in 300 epochs.",
            "The same task in 60 epochs with Adam, .005; `tests/test_learning.py`.",
        ),
    ),
    "Data": (
        Difference(
            "–", "", "Ids: padding, end, characters. An unknown character is dropped.",
            "A symbol of its own for unknown characters, between end and characters; `drop` is the thesis's.",
            ("data.unknown",),
        ),
        Difference(
            "–", "", "⨯, ^ and � stand for padding, end and ids that are too large; a corpus with them is refused.",
            "Every character may be in the corpus; `tests/datasets/test_vocabulary.py`.",
        ),
        Difference(
            "3.1.1", "Fewer than 500 characters (Europarl).", "min ≤ length < max, on both sides, 50 to 150 unless a "
            "script says otherwise; those of the figures lift it, but for table 3.3.2.",
            "The upper limit is included: the thesis's 500 is `499`. Only training pairs are limited.",
            ("data.min_length", "data.max_length"),
        ),
        Difference(
            "3.3.2", "25 to 500 characters were tried and changed nothing.", "The main runs have no least length.",
            "1 unless another is given.", ("data.min_length",),
        ),
        Difference(
            "tab. 3.3.4", "Empty lines and pairs that do not match are shown as bad data.", "They were trained on.",
            "Empty lines are left out; `0` keeps them. `bytenet data` lists pairs that may not match.",
            ("data.min_length",),
        ),
        Difference(
            "3.1.1", "1,901,056 pairs of Europarl.",
            "1,920,209 raw. The number of the text is 64 · 29,704, so probably counted as batches.",
            "1,920,209 are checked on reading.", ("preset europarl",),
        ),
        Difference(
            "3.3.1", "NewsTest 2015 has 1,596 pairs.", "2,169 (German and English).",
            "2,169, the official number, also of the author's published translations. 1,596 pairs of NewsTest *2014* "
            "have 50 to 149 characters: table 3.1.1 of [reproduction.md](reproduction.md).",
            ("data.test_years", "data.validation_years"),
        ),
        Difference(
            "–", "", "Reads NewsTest by escaping its SGML until it is XML.",
            "Reads it as sacreBLEU does; `tests/datasets/test_downloaded_corpora.py`.",
        ),
        Difference(
            "3.1.2, tab. 3.1.3", "Row 1: five words for two digits.", "Cannot make such a pair.",
            "The generator of the code, number by number; `tests/datasets/test_generated_corpora.py`. Row 1 does "
            "not occur.",
            ("data.train_seed", "data.test_seed"),
        ),
        Difference(
            "3.3.1", "", "Training and test digits are drawn apart: 22 % of the test items are training items, too.",
            "The same draws. `numbers` has no number in two splits; `tests/datasets/test_generated_corpora.py`.",
            ("data.corpus",),
        ),
        Difference(
            "Algorithm 4", "`length` stands for the right end of the interval; the bin at which a bucket is full is "
            "not counted, and the next begins after it; a bucket must have *more than* the least size.",
            "Resolved: the full bin counts, the next bucket begins at the cut, *at least* the least size; the last "
            "may be narrow, or joins the one before.",
            "`histogram` is the code's; `tests/datasets/test_partition.py`. The default `optimal` makes as many "
            "buckets, cut where they pad the least.",
            ("data.bucketing", "data.num_buckets", "data.bucket_min_size", "data.bucket_min_width"),
        ),
        Difference(
            "–", "", "Europarl is read in the order of its file, through a buffer of 8,192 pairs of 1.9 million.",
            "A new order of the whole corpus every epoch; `buffer` is the thesis's.",
            ("data.shuffle", "data.shuffle_buffer"),
        ),
        Difference(
            "–", "", "Corpora in memory: all indices shuffled, then a buffer of 128 batches on top.",
            "One shuffle of the whole corpus, which the buffer adds nothing to.", ("data.shuffle",),
        ),
        Difference(
            "–", "", "Without shuffling there are no buckets either.", "Two settings.",
            ("data.shuffle", "data.bucketing"),
        ),
        Difference(
            "–", "", "Loaders of comtrans, and scripts with it that were never reported.",
            "Not built; `files` reads any parallel text.", ("data.corpus",),
        ),
        Difference(
            "–", "", "The table that swaps languages is broken: no English to German on Europarl.",
            "Both directions; `tests/datasets/test_downloaded_corpora.py`.",
            ("data.source_language", "data.target_language"),
        ),
    ),
    "Translating": (
        Difference(
            "Algorithm 3", "All scores begin with zero, which gives b copies of one beam.", "[0, −∞, −∞, …].",
            "As the code; `tests/decoding/test_beam.py`.",
        ),
        Difference(
            "2.6, 3.2", "The likeliest beam that ended.", "Beams that did not end lose 1e9, which leaves float32 no "
            "digits to rank them by.",
            "Ended beams first, both kinds ranked exactly, by log-probability over a length penalty (0 in the thesis).",
            ("decoding.length_penalty",),
        ),
        Difference(
            "–", "", "Greedy and beam search run all steps of the padded length.",
            "They stop when nothing can change any more; the same results, `tests/decoding/test_beam.py`.",
        ),
        Difference(
            "–", "", "Any id may be written, padding too.",
            "Padding and the unknown symbol are never written, unless the settings are the thesis's; then padding is, "
            "too, if the model reads it.",
            ("model.settings", "model.mask_padding"),
        ),
        Difference(
            "3.2, 3.3.2", "Beam 10 for the final BLEU on Europarl.", "Beam 12, one sentence at a time.",
            "10, with 32 sentences at a time; either can be given.", ("decoding.beam_size", "decoding.batch_size"),
        ),
        Difference(
            "3.2", "Greedy search in training.", "The same.", "The same unless a beam is asked for after epochs.",
            ("evaluation.beam_size",),
        ),
    ),
    "Measures": (
        Difference(
            "3.3", "A misclassification rate.",
            "Two: in training, wrong symbols over target symbols, pooled; in the grid of 3.6, a mean over sentences "
            "of wrong symbols over *predicted* symbols.",
            "Both, by name; `tests/evaluation/test_misclassification.py`.",
        ),
        Difference(
            "3.2", "BLEU of random batches while training.", "NLTK's tokens and a last period split off, one batch of "
            "64 (training) or 128 (test) pairs, no smoothing, so often 0.",
            "The same of `continuous_batch_size` pairs; after epochs, sacreBLEU of the validation set.",
            ("evaluation.continuous_batch_size", "evaluation.every_epochs"),
        ),
        Difference(
            "3.3.2, 3.4.2", "ByteNet 5.5 sampled and 7.44 in the end; Simplified 3 and .55. Sampling is blamed.",
            "The two also differ in beam (1 and 12), in batch statistics (the batch's and running ones) and in "
            "batches of like length.",
            "`bytenet evaluate` scores whole sets with one search. The thesis's own translations have 7.44 and .55 by "
            "our BLEU, too; `tests/evaluation/test_thesis_bleu.py`.",
            ("evaluation.batch_norm_statistics", "decoding.beam_size"),
        ),
        Difference(
            "3.3.2", "BLEU by Moses: cased, no smoothing.", "multi-bleu.perl on tokens of tokenizer.perl.",
            "sacreBLEU with its signature and an interval, and the thesis's beside it.",
        ),
        Difference(
            "captions", "A forget factor.", "It is the weight of the newest value, α.", "α.", ("evaluation.smoothing",),
        ),
        Difference(
            "fig. 3.5.3", "α = .1.", "α = .3.", ".3. The data beside a picture are not smoothed.",
        ),
        Difference(
            "fig. 3.5.6", "", "Values above 50,000 are drawn as 50,000.",
            "The same in the picture; the data beside it are not cut.",
        ),
        Difference(
            "–", "", "Also logs how many ids were too large to be characters.",
            "No such ids: the head has as many outputs as there are symbols.",
        ),
    ),
    "Several devices, speed and profiles": (
        Difference(
            "–", "", "TensorFlow 1.1 and a fork of sugartensor; Python 3.6; Titan X cards with CUDA 8.",
            "TensorFlow 2.21 and Keras 3; Python 3.11; the CPU unless there is a GPU.",
        ),
        Difference(
            "3.2", "Gradients of all GPUs are averaged on the CPU.",
            "The CPU also holds the variables and applies every update, even with one GPU.",
            "Every device holds the model and updates itself; the gradient is summed between the devices, and batch "
            "statistics are those of the whole batch. `tests/training/test_strategies.py`.",
            ("training.devices",),
        ),
        Difference(
            "3.3.3, 3.4.1", "37 % (ByteNet) and 40 % (Simplified) of the time is transfer.",
            "By rate of the last third 25 and 30 %, by total time 40 and 46 %; how the text's came about is not said.",
            "Devices are profiled, not guessed: `bytenet profile` tells busy from idle.",
        ),
        Difference(
            "3.4.1", "Simplified is about 20 % faster.", "On one GPU 21 % less time, which is a rate 29 % higher.",
            "2.1 times the rate on two CPU cores; [performance.md](performance.md).",
        ),
        Difference(
            "3.5.1", "SELU is at least twice as fast.", "2.3 times on four GPUs, 5.8 on one: models with batch "
            "normalisation also ran a test batch in each step (see above).",
            "1.2 times at d = 400, 1.4 at d = 128, on two CPU cores; with that extra work built in, 2.5 at d = 128; "
            "[performance.md](performance.md).",
        ),
        Difference(
            "fig. 3.3.5, 3.4.2, 3.5.4", "Observations a second.", "Steps a second times 16 a GPU, wall-clock. The "
            "first two hours are a slow start.",
            "`bytenet benchmark training` repeats steps after those that compile, and gives the spread.",
        ),
        Difference(
            "fig. 3.3.6, 3.4.3, 3.5.5", "Durations grouped by pass, half and part.",
            "Durations are summed even where they overlap; the first event of each device is lost; a fourth level, "
            "the kind, is never drawn.",
            "Wall-clock shares that add up to the busy time, and the thesis's sums beside them; four levels. "
            "`tests/profiling/test_breakdown.py`.",
        ),
    ),
    "Semi-supervised training and its baseline": (
        Difference(
            "2.7, 3.6.1", "P(x'\\|x) is a sum over all translations.",
            "Over the b beams: not normalised again, doubles and unended beams kept; gradients as in B.5.4, the search "
            "is not differentiated.",
            "As the code; doubles can be merged. `tests/training/test_translator_pair.py`.",
            ("semi_supervised.beam_size", "semi_supervised.duplicates"),
        ),
        Difference(
            "2.7", "", "The search normalises with the statistics of the batch.",
            "With running statistics, unless `batch` is asked for.",
            ("semi_supervised.batch_norm_statistics", "preset digits-semi-thesis"),
        ),
        Difference(
            "3.6.1", "The set-up is that of the supervised digits.", "Batches of 8 pairs, not 16, and 8 unlabelled "
            "sentences beside them.",
            "16 and 8 (`digits-semi`); 8 and 8 in the preset of the thesis.",
            ("data.batch_size", "semi_supervised.batch_size", "preset digits-semi-thesis"),
        ),
        Difference(
            "2.7.4", "λ₁ and λ₂.",
            "Only λ₂, of spelled words. The defaults are 10 beams and .1; the grid has 5 beams.",
            "Both. 5 beams and .1 unless others are given; the grid has λ₂ alone.",
            ("semi_supervised.source_weight", "semi_supervised.target_weight", "semi_supervised.beam_size"),
        ),
        Difference(
            "–", "", "The test loss of these runs ignores what it is given: it is a training loss. (So they alone "
            "escape the leak into the running statistics.)",
            "Of the validation set, for both translators.",
        ),
        Difference(
            "3.6.1", "Each translator has a GPU of its own, and no weight passes through the CPU.",
            "Variables and updates stay on the CPU, and so does the marginal likelihood.",
            "Both translators on every device; or each on one of its own, with its variables and updates.",
            ("semi_supervised.placement",),
        ),
        Difference(
            "3.6.1", "After the search, both translators run on its result in parallel.",
            "The second pass runs the causal convolution in a scan over time, to save memory.", "In parallel.",
        ),
        Difference(
            "fig. 3.6.1", "One point for each λ, also with 0 unlabelled sentences.",
            "There λ does nothing: the three columns are the same run three times, and show the noise.",
            "The same, with first weights of their own for each λ and trial, which the cells with text share.",
        ),
        Difference(
            "fig. 3.6.1", "Rates on a test set.", "Two test sets: in training one of its own for each trial; for the "
            "figure one for all (seed 2), greedily, with running statistics.",
            "The latter alone, measured at the end.", ("data.validation_seed", "evaluation.batch_norm_statistics"),
        ),
        Difference(
            "3.6.1", "1,024 test items hold most combinations.", "They hold 496 of 1,100, about 45 %, and many are "
            "in the training set: 15 to 42 % of the labelled, 58 to 70 % of the unlabelled sizes.",
            "The same sets, so that the numbers can be compared.",
        ),
        Difference(
            "3.6.1", "The final 1,024 unlabelled sentences add little.", "They are 512 more than the 512 before.",
            "The same sets.",
        ),
        Difference(
            "fig. 3.6.2", "A beam of 5 should take 10 times as long; it took about 5 times.", "5.4 to 5.7 times.",
            "Measured with the figure: [reproduction.md](reproduction.md).",
        ),
        Difference(
            "3.6.1, fig. 3.6.1", "A recurrent network with attention as baseline.",
            "Its last GRU's bounded output is used as logits: with 28 symbols no probability above .215 and no cross "
            "entropy below 1.54 nats a symbol. One run for each size.",
            "`bounded` is that network, `dense` the same with a linear head; `tests/models/test_attention.py`.",
            ("model.family", "model.variant", "preset digits-attention"),
        ),
        Difference(
            "–", "", "The baseline's GRUs begin with gates biased by 1. It reads and attends to padding up to the "
            "length of each pair.",
            "Keras's first weights. Padding is skipped; with the thesis's settings, it counts up to the length of the "
            "batch.",
            ("model.mask_padding",),
        ),
    ),
    "Sizes": (
        Difference(
            "3.3.1", "73,500 weights at d = 20, in convolutions and dense layers.",
            "55,500, or 60,428 with embeddings, offsets and biases for 28 symbols.",
            "60,428; `tests/models/test_bytenet_variants.py`. No formula gives 73,500; counting the encoder's dense "
            "layers at the decoder's width does.",
        ),
        Difference(
            "2.6", "About 27 million weights at d = 400.",
            "22.2 million in convolutions; 22,733,500 in all with 300 symbols. 27.0 million would be all 5 taps in "
            "the decoder.",
            "22,733,500; `tests/models/test_bytenet_variants.py`.",
        ),
        Difference(
            "3.4", "Simplified ByteNet has 5/9 of ByteNet's weights.",
            ".459, at d = 200 and 400: 10.2 of 22.2 million. 5/9 is 15 of 27, with 5 taps in the decoder.",
            "As the code; `tests/models/test_bytenet_variants.py`.",
        ),
        Difference(
            "3.4", "Simplified has fewer weights on the digits, so it overfits less.",
            "At d = 20 it has more: 102,000 against 55,500.", "106,028 against 60,428 with embeddings and biases; "
            "`tests/models/test_bytenet_variants.py`.",
        ),
        Difference(
            "2.6.4", "L · k · d weights in a stack of convolutions.", "L · k · (d / 2)².",
            "Convolutions have k · in · out weights; `tests/layers/test_convolution.py`.",
        ),
        Difference(
            "2.6.2, 2.6.3", "A character sees 125 others; elsewhere 373.", "Both are right: one set and three.",
            "373 in the encoder, 187 in the decoder; `tests/models/test_bytenet_variants.py`.",
            ("model.num_sets", "model.dilations"),
        ),
    ),
    "Slips in formulas": (
        Difference(
            "2.2.6, 2.2.7, Algorithm 1", "Adam's step is multiplied by the gradient; in one place ε is in the root.",
            "TensorFlow's Adam.", "m̂ / (√v̂ + ε) in the form of 2.2.7, without the gradient; "
            "`tests/training/test_optimizers.py`.",
        ),
        Difference(
            "2.2.13", "The condition of the backward pass is that of the forward pass.", "",
            "Backward it is the fan-out that counts. Weights here go by fan-in, as in 2.2.15; "
            "`tests/layers/test_initializers.py`.",
        ),
        Difference(
            "2.4.6", "θ(αz) = α θ(z) for ReLU.", "", "Only for α above 0. The gain is left out, so nothing needs it.",
        ),
        Difference(
            "2.4.2", "Points to B.3 for the gradient of layer normalisation.", "",
            "It is B.4; `tests/layers/test_normalization.py`.",
        ),
        Difference(
            "2.5.1", "Vocabularies of 16,000 and 8,000 words (Sutskever et al.).", "",
            "160,000 and 80,000 in the paper. No words here.",
        ),
        Difference(
            "2.5.3, 2.5.4", "The decoder is not given y₍ᵢ₋₁₎, and the attention is summed to T.", "",
            "It reads y₍ᵢ₋₁₎ and sums over the source, \\|S\\|; `tests/models/test_attention.py`.",
        ),
        Difference(
            "B.2.6", "Index h_ℓ of the weight.", "",
            "h_(ℓ+1); the flipped kernel of B.2.8 is right. `tests/layers/test_convolution.py`.",
        ),
        Difference(
            "B.3.7, B.4.7", "(σ + ε)^(−2/3).", "", "(σ² + ε)^(−3/2); `tests/layers/test_normalization.py`.",
        ),
        Difference(
            "B.3.8, B.4.8", "The first term is −1 / √(σ² + ε), and there is a second.", "",
            "It is −γ / √(σ² + ε), and the second is 0; `tests/layers/test_normalization.py`.",
        ),
        Difference(
            "B.4.9, B.4.10", "∂γ and ∂β of one position.", "",
            "Summed over batch and time; `tests/layers/test_normalization.py` for β, as γ is not trained.",
        ),
        Difference(
            "3.5.1", "The constants of SELU are called α and β.", "", "α = 1.6733 and λ = 1.0507, Keras's `selu`.",
        ),
    ),
    "Statements and captions": (
        Difference(
            "3.3.1", "There is little overfitting on the digits.",
            "Training error .01 and test error .30; the test cross entropy rises from 5 to 7.6.",
            "Figure 3.3.1 here judges it on test minus training error.", ("preset digits-thesis",),
        ),
        Difference(
            "3.3.2, 3.4.2", "Curves of Europarl rise and fall with the epochs because of bad pairs.",
            "The buffer over the order of the file is small, a likelier cause.",
            "Both orders are run, on the same pairs: figure 3.3.3.", ("data.shuffle",),
        ),
        Difference(
            "3.3.2, 3.4.2", "Test BLEU about 5.5 (ByteNet) and 3 (Simplified) in the curves.",
            "Measured off the figures, the ends of the smoothed curves are 5.1 and 2.7.",
            "Compared with the ends of the figures' curves.",
        ),
        Difference(
            "3.4", "Simplified ByteNet's error on the digits is .25.", "In the figure .23.",
            "Compared with the figure's.",
        ),
        Difference(
            "3.5.2, fig. 3.5.6", "SELU ran on Europarl for 18 hours.", "16 hours in the figure.",
            "As long as the corpus at hand takes.",
        ),
        Difference(
            "fig. 3.5.3", "SELU memorises news in up to 150 epochs.", "It ran 301; the figure is cut.",
            "301 at the thesis's size, as long as ByteNet elsewhere; the figure is not cut.", ("training.epochs",),
        ),
        Difference(
            "fig. 3.5.1", "ByteNet and the model without normalisation in one figure.",
            "Smoothed differently: α .3 and .1.", "Both with .1 in the picture.",
        ),
        Difference("fig. D.1.2", "The caption says SELU.", "It is ByteNet.", "ByteNet."),
    ),
}  # fmt: skip


def differences_page() -> str:
    """The page, in Markdown: a table for each subject."""
    sections = [_INTRODUCTION]
    for subject, differences in DIFFERENCES.items():
        rows = [
            (row.where, row.text or "–", row.code or "–", row.here, ", ".join(map(_setting, row.settings)) or "-")
            for row in differences
        ]
        header = ("where in the thesis", "thesis's text", "thesis's code", "this code", "setting")
        sections.append(f"## {subject}\n\n{table(header, rows)}")
    return "\n\n".join(sections) + "\n"


def _setting(setting: str) -> str:
    return f"preset `{setting.removeprefix('preset ')}`" if setting.startswith("preset ") else f"`{setting}`"


_INTRODUCTION = """# The thesis's text, its code, and this code

What Andreas Madsen's thesis (2017) says, what the code behind it does, and what this project does, wherever they
differ. "–": it says nothing, or the same as the text. "-": nothing chooses. The thesis's figures and tables beside
ours: [reproduction.md](reproduction.md). Which settings help: [settings.md](settings.md).

`model.settings: thesis` turns the network's choices to those of the thesis's code at once: `model.mask_padding`,
`model.initializer`, `model.norm_epsilon`, `model.batch_norm_momentum` and `model.length_rule`; and it lets the
searches write any symbol. The preset `digits-thesis` does so for all of a run."""
