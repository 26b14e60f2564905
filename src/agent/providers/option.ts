/** An option with its value, or nothing where there is none to give. */
export function option(name: string, value: string | number | null): readonly string[] {
  return value === null ? [] : [name, String(value)]
}
