const CSI = '\u001b['

/** Undoes what a program of a terminal may leave switched on, or off: the cursor, colours, wrapping, the mouse, pasting, focus, ways to report keys. */
export const USUAL_MODES = `${CSI}?25h${CSI}0m${CSI}?7h${CSI}?1000l${CSI}?1002l${CSI}?1003l${CSI}?1006l${CSI}?2004l${CSI}?1004l${CSI}?1l${CSI}>4m${CSI}<u\u001b>`

/** Has the terminal keep the title of its window. */
export const KEEP_TITLE = `${CSI}22;2t`

/** Brings that title back; a terminal that keeps none is left with an empty one, and shows its own then. */
export const TITLE_BACK = `\u001b]2;\u0007${CSI}23;2t`
