import type { Node } from 'mdast'

/** Calls a function for every node of a tree, parents first. */
export function visit(node: Node, show: (node: Node) => void): void {
  show(node)
  if ('children' in node) for (const child of node.children as readonly Node[]) visit(child, show)
}
