import type { Node } from 'mdast'

/** Shows every node of a tree to a function, parents first. */
export function visit(node: Node, show: (node: Node) => void): void {
  show(node)
  if ('children' in node) for (const child of node.children as readonly Node[]) visit(child, show)
}
