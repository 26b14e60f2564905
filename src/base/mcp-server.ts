/** A program that agents get as an MCP server. */
export interface McpServer {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The time limit for a call of its tools; if absent, the agent's own limit applies. */
  readonly toolSeconds?: number
}
