import fc from 'fast-check'

// The same cases for every mutant: else one run notices what the next one does not.
fc.configureGlobal({ seed: 1 })
