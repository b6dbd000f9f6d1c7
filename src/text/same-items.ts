/** Whether two lists have the same items, each as often, in any order. */
export function hasSameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  const texts = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).toSorted();
  return one.length === other.length && Bun.deepEquals(texts(one), texts(other));
}
