/** A program that agents are given as a server of the Model Context Protocol. */
export interface McpServer {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** How long one call of its tools may take; left out, the agent's own limit holds. */
  readonly toolSeconds?: number
}
