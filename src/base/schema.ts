import * as v from 'valibot'

/** What a schema gives, with everything in it readonly. */
export type Read<Schema extends v.GenericSchema> = Deep<v.InferOutput<Schema>>

type Deep<T> = T extends readonly (infer Item)[]
  ? readonly Deep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Deep<T[Key]> }
    : T

/** A schema with a sentence about it, which editors and the docs show. */
export function about<const Schema extends v.GenericSchema>(description: string, schema: Schema) {
  return v.pipe(schema, v.description(description))
}
