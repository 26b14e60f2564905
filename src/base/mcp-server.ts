/** A program that agents are given as a server of the Model Context Protocol. */
export interface McpServer {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}
