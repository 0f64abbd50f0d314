import { type MethodName, methods } from '../src/protocol/methods.ts';
import { findAnchors } from './anchors.ts';
import { type ConformanceCase, casesFor } from './cases.ts';
import { type CompareOptions, type ComparisonResult, compareCall, compareOptions } from './compare.ts';
import { type NodeAddress, RpcNode } from './node.ts';

/** A call and its result. */
export type Row = Readonly<{ plan: ConformanceCase; result: ComparisonResult }>;

export type RunOptions = Readonly<{
  ours: NodeAddress;
  theirs: NodeAddress;
  /** Only these methods; all when empty. */
  only: readonly MethodName[];
  compare?: Partial<CompareOptions>;
  /** Called after each call. */
  onRow?: (row: Row, done: number, of: number) => void;
}>;

/** Nodes of different chains cannot be compared. */
async function requireOneChain(ours: RpcNode, theirs: RpcNode): Promise<void> {
  const [own, other] = await Promise.all([
    ours.requireResult('getGenesisHash', []),
    theirs.requireResult('getGenesisHash', []),
  ]);
  if (own === other) return;
  throw new Error(
    `${ours.name} and ${theirs.name} belong to different chains (${String(own)}, ${String(other)}) and cannot be compared`,
  );
}

/**
 * Sends the same calls to two nodes, one after the other to limit their load.
 * @throws Error when a node does not respond, when they belong to different chains, or when no parameters are found.
 */
export async function runConformance(options: RunOptions): Promise<Row[]> {
  const ours = new RpcNode(options.ours);
  const theirs = new RpcNode(options.theirs);
  await requireOneChain(ours, theirs);
  const names = options.only.length > 0 ? options.only : (Object.keys(methods) as MethodName[]);
  const plans = casesFor(await findAnchors(ours), names);
  const compare = { ...compareOptions, ...options.compare };
  const rows: Row[] = [];
  for (const plan of plans) {
    const row = { plan, result: await compareCall(ours, theirs, plan, compare) };
    rows.push(row);
    options.onRow?.(row, rows.length, plans.length);
  }
  return rows;
}
