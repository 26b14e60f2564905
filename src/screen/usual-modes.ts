const CSI = '\u001b['

/**
 * Restores the usual modes after a program that left others: the cursor, colours, wrapping, the mouse, pasting,
 * focus, ways to report keys.
 */
export const USUAL_MODES = `${CSI}?25h${CSI}0m${CSI}?7h${CSI}?1000l${CSI}?1002l${CSI}?1003l${CSI}?1006l${CSI}?2004l${CSI}?1004l${CSI}?1l${CSI}>4m${CSI}<u\u001b>`

/** Makes the terminal save the title of its window. */
export const KEEP_TITLE = `${CSI}22;2t`

/** Restores that title; a terminal that saves none gets an empty one, and then shows its own. */
export const TITLE_BACK = `\u001b]2;\u0007${CSI}23;2t`
