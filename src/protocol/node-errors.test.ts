import { describe, expect, it } from 'vitest';
import { nodeErrorRow } from './node-errors.ts';

describe('node error table', () => {
  it('ranks errors about the request before errors about the node', () => {
    const codes = [-32601, -32005, -32603, -32011, -32016, -32007];
    expect(codes.toSorted((a, b) => nodeErrorRow(a).rank - nodeErrorRow(b).rank)).toEqual(codes.toReversed());
  });

  it('marks exactly the codes of Agave and JSON-RPC as standard', () => {
    const agave = Array.from({ length: 21 }, (_, index) => -32001 - index);
    const jsonRpc = [-32600, -32601, -32602, -32603, -32700];
    for (const code of [...agave, ...jsonRpc])
      expect([code, nodeErrorRow(code).standard]).toEqual([code, true]);
    for (const code of [0, -1, 429, -32000, -32022, -32065, -32429, -32604]) {
      expect([code, nodeErrorRow(code).standard]).toEqual([code, false]);
    }
  });
});
