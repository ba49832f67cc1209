// The children of an object as an SVG tree: the owner left, its children right of it, each with its state.
import { cutMiddle } from '../../cut-middle.ts';
import type { ObjectDetail, TreeNode } from '../../wire.ts';
import { objectHref, rows } from '../store.ts';

const nodeWidth = 176;
const nodeHeight = 50;
const gapX = 22;
const gapY = 10;
/** More nodes of one owner are not drawn. */
const maxChildren = 30;

type Unlisted = ObjectDetail['unlisted'];
type Placed = { readonly node: TreeNode; readonly x: number; readonly y: number; readonly children: readonly Placed[] };

export function ResourceTree({ root, unlisted = [] }: { readonly root: TreeNode; readonly unlisted?: Unlisted }) {
  return (
    <>
      {unlisted.length > 0 && <p class="notice-line">Not known: {unlisted.join('; ')}</p>}
      {root.children.length > 0 && <Tree root={root} />}
      {root.children.length + unlisted.length === 0 && <p class="none">It has no children.</p>}
    </>
  );
}

function Tree({ root }: { readonly root: TreeNode }) {
  const { placed, height } = place(root, 0, 0);
  const all = flatten(placed);
  const width = Math.max(...all.map(({ x }) => x)) + nodeWidth;
  return (
    <div class="tree" tabIndex={0} role="region" aria-label="Resource tree">
      <svg
        viewBox={`0 0 ${width + 2} ${height + 2}`}
        width={width + 2}
        height={height + 2}
        role="group"
        aria-label={`${all.length} objects`}
      >
        {all.flatMap((parent) =>
          parent.children.map((child) => <Edge key={child.node.id} parent={parent} child={child} />),
        )}
        {all.map((one) => (
          <Node key={one.node.id} placed={one} isRoot={one === placed} />
        ))}
      </svg>
    </div>
  );
}

function Edge({ parent, child }: { readonly parent: Placed; readonly child: Placed }) {
  const [x1, y1, x2, y2] = [parent.x + nodeWidth, parent.y + nodeHeight / 2, child.x, child.y + nodeHeight / 2];
  const half = (x1 + x2) / 2;
  return <path class="edge" d={`M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}`} />;
}

function Node({ placed: { node, x, y }, isRoot }: { readonly placed: Placed; readonly isRoot: boolean }) {
  const box = (
    <g class={`node ${node.tone} ${isRoot ? 'root' : ''}`} transform={`translate(${x + 1} ${y + 1})`}>
      <title>{`${node.kind} ${node.name}: ${node.state}`}</title>
      <rect width={nodeWidth} height={nodeHeight} rx={8} />
      <rect class="edge-mark" width={4} height={nodeHeight - 16} x={7} y={8} rx={2} />
      <text class="node-kind" x={20} y={19}>
        {cutMiddle(`${node.kind} · ${node.state}`, 27)}
      </text>
      <text class="node-name" x={20} y={37}>
        {cutMiddle(node.name, 20)}
      </text>
    </g>
  );
  return isRoot || !rows.value.has(node.id) ? box : <a href={objectHref(node.id)}>{box}</a>;
}

/** Places a node in the middle of its children. Returns the height of all of them. */
function place(node: TreeNode, depth: number, top: number): { readonly placed: Placed; readonly height: number } {
  const x = depth * (nodeWidth + gapX);
  let used = 0;
  const children: Placed[] = [];
  for (const child of node.children.slice(0, maxChildren)) {
    const { placed, height } = place(child, depth + 1, top + used);
    children.push(placed);
    used += height + gapY;
  }
  const height = Math.max(nodeHeight, used - gapY);
  const [first, last] = [children.at(0), children.at(-1)];
  const y = first === undefined || last === undefined ? top : (first.y + last.y) / 2;
  return { placed: { node, x, y, children }, height };
}

function flatten(placed: Placed): readonly Placed[] {
  return [placed, ...placed.children.flatMap(flatten)];
}
