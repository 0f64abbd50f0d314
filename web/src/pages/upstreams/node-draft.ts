import type { Asked } from '../../../../src/control/api/contract/contract.ts';

/** A node as its form has it: text all over. */
export type NodeDraft = Readonly<{
  network: string;
  name: string;
  url: string;
  ws: string;
  grpc: string;
  /** A line for each: `name: value`. */
  headers: string;
}>;

export const emptyDraft = (network: string): NodeDraft => ({
  network,
  name: '',
  url: '',
  ws: '',
  grpc: '',
  headers: '',
});

/** Networks as src/protocol/call.ts has them. */
export const networks = ['mainnet-beta', 'devnet', 'testnet'] as const;

/** `name: value` on each line; what is left of the first colon is the name. */
export function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return at === -1 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

type Reached = Omit<Asked<'POST /upstreams/test'>['body'], 'options'>;

/** What is asked of a draft; an address that is left empty is derived, or there is none. */
export function reachedBy({ network, url, ws, grpc, headers }: NodeDraft): Reached {
  return {
    network: network as Reached['network'],
    url: url.trim(),
    ...(ws.trim() !== '' && { ws: ws.trim() }),
    ...(grpc.trim() !== '' && { grpc: grpc.trim() }),
    headers: headersIn(headers),
  };
}
