/** Says to whatever is started in an attempt which workspace it is in: there ralph starts nothing of its own. */
export const INSIDE_VARIABLE = 'RALPH_INSIDE'
