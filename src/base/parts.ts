/** A copy of an object with other parts. Parts that are found out when they are read, such as a getter's, stay so. */
export function withParts<T extends object>(whole: T, parts: Partial<T>): T {
  const all = { ...Object.getOwnPropertyDescriptors(whole), ...Object.getOwnPropertyDescriptors(parts) }
  return Object.defineProperties({}, all) as T
}
