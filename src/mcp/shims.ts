import type { jsonSchemaValidator } from '@modelcontextprotocol/server'

/**
 * Takes the place of the MCP package's own validator of JSON Schema, which is a third of all its code and takes long to
 * begin: what comes in is checked by each tool's schema.
 */
export class DefaultJsonSchemaValidator implements jsonSchemaValidator {
  getValidator() {
    return () => ({
      valid: false as const,
      data: undefined,
      errorMessage: 'there is nothing to check here',
    })
  }
}

export { default as process } from 'node:process'
