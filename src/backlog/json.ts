/** A task as JSON in every command: see docs/json.md. */
export interface TaskJson {
  readonly id: string
  readonly number: number
  readonly title: string
  readonly file: string
  /** Null if the file has no clear status. */
  readonly status: 'TODO' | 'DONE' | 'BLOCKED' | null
  readonly milestone: string | null
  readonly depends: readonly string[]
  readonly touches: readonly string[]
  readonly produces: readonly string[]
  readonly prdReference: readonly string[]
  readonly tier: string
  readonly tierSource: 'explicit' | 'detected'
  readonly maxTurns: number
  readonly timeoutSeconds: number
  readonly eligible: boolean
  /** Why it is not eligible, each reason with its `kind`. */
  readonly waiting: readonly { readonly kind: string }[]
  readonly completed: string | null
  readonly commit: string | null
  readonly cost: string | null
  /** The fields that ralph does not know. */
  readonly fields: Readonly<Record<string, string>>
}
