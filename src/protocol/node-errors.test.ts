import { describe, expect, it } from 'vitest';
import { nodeErrorRow } from './node-errors.ts';

describe('the table of the errors of nodes', () => {
  it('ranks what concerns the question before what concerns the node', () => {
    const codes = [-32601, -32005, -32603, -32011, -32016, -32007];
    expect(codes.toSorted((a, b) => nodeErrorRow(a).rank - nodeErrorRow(b).rank)).toEqual(codes.toReversed());
  });

  it('has every code of Agave and of JSON-RPC as standard, and nothing else', () => {
    const agave = Array.from({ length: 21 }, (_, index) => -32001 - index);
    const jsonRpc = [-32600, -32601, -32602, -32603, -32700];
    for (const code of [...agave, ...jsonRpc])
      expect([code, nodeErrorRow(code).standard]).toEqual([code, true]);
    for (const code of [0, -1, 429, -32000, -32022, -32065, -32429, -32604]) {
      expect([code, nodeErrorRow(code).standard]).toEqual([code, false]);
    }
  });

  it('believes a code that it does not know, and holds it for the least telling', () => {
    expect(nodeErrorRow(-1)).toMatchObject({
      rule: 'believe',
      rank: nodeErrorRow(-32601).rank,
      behind: false,
    });
  });
});
