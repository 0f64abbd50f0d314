import { type MethodName, methods } from '../src/protocol/methods.ts';
import { findAnchors } from './anchors.ts';
import { type ConformanceCase, casesFor } from './cases.ts';
import { type CompareOptions, type ComparisonResult, compareCall, compareOptions } from './compare.ts';
import { type NodeAddress, RpcNode } from './node.ts';

/** What came of one call. */
export type Row = Readonly<{ plan: ConformanceCase; result: ComparisonResult }>;

export type RunOptions = Readonly<{
  ours: NodeAddress;
  theirs: NodeAddress;
  /** Only these methods; all when empty. */
  only: readonly MethodName[];
  compare?: Partial<CompareOptions>;
  /** Told after each call. */
  onRow?: (row: Row, done: number, of: number) => void;
}>;

/** Both must answer, and belong to one chain: otherwise every other difference is noise. */
async function requireOneChain(ours: RpcNode, theirs: RpcNode): Promise<void> {
  const [own, other] = await Promise.all([
    ours.requireResult('getGenesisHash', []),
    theirs.requireResult('getGenesisHash', []),
  ]);
  if (own === other) return;
  throw new Error(
    `${ours.name} and ${theirs.name} belong to different chains (${String(own)}, ${String(other)}): nothing they answer can agree`,
  );
}

/**
 * Puts the same calls to two nodes, one after the other so that neither is overrun.
 * @throws Error when a node does not answer, when they belong to different chains, or when the first lacks what the
 * calls are made of.
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
