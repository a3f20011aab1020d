"""The pages of the reproduction: conclusions, verdicts, figures by chapter, differences from the thesis."""
