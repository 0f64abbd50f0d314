import type { RouteInput, RouteOutput } from '../../../../src/control/api/contract/contract.ts';

/** A node that was added, as it may be shown. */
export type AddedNodeJson = RouteOutput<'GET /upstreams'>['added'][number];

/** A node as its form has it: text all over. */
export type NodeDraft = Readonly<{
  network: string;
  name: string;
  url: string;
  ws: string;
  grpc: string;
  /** A line for each: `name: value`. */
  headers: string;
  requestsPerSecond: string;
  requestsBurst: string;
  pipelining: string;
}>;

export const emptyDraft = (network: string): NodeDraft => ({
  network,
  name: '',
  url: '',
  ws: '',
  grpc: '',
  headers: '',
  requestsPerSecond: '',
  requestsBurst: '',
  pipelining: '',
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

/** Options of a node as the form has them, by their names in the configuration. */
export const optionNames = {
  requests_per_second: 'requestsPerSecond',
  requests_burst: 'requestsBurst',
  pipelining: 'pipelining',
} as const;

/** What is left empty is as the configuration has it; what is no number is refused by the service, in its words. */
function optionsIn(draft: NodeDraft): Record<string, unknown> {
  const written = Object.entries(optionNames).map(([name, field]) => [name, draft[field].trim()] as const);
  return Object.fromEntries(
    written.flatMap(([name, text]) =>
      text === '' ? [] : [[name, /^\d{1,9}$/.test(text) ? Number(text) : text]],
    ),
  );
}

type ConnectionInput = RouteInput<'POST /upstreams/test'>['body'];

/** What is asked of a draft; an address that is left empty is derived, or there is none. */
export function connectionInputOf(draft: NodeDraft): ConnectionInput {
  const { network, url, ws, grpc, headers } = draft;
  return {
    network: network as ConnectionInput['network'],
    url: url.trim(),
    ...(ws.trim() !== '' && { ws: ws.trim() }),
    ...(grpc.trim() !== '' && { grpc: grpc.trim() }),
    headers: headersIn(headers),
    options: optionsIn(draft),
  };
}

/** A draft of what an added node is now, as far as it may be shown. */
export function draftOf({ network, name, options }: AddedNodeJson): NodeDraft {
  const written = Object.entries(optionNames).map(([option, field]) => {
    const value = options?.[option];
    return [field, typeof value === 'number' ? String(value) : ''] as const;
  });
  return { ...emptyDraft(network), name, ...Object.fromEntries(written) };
}

type NodeUpdate = Omit<RouteInput<'PATCH /upstreams/{node}'>['body'], 'force'>;

/** What is to be changed by a draft: addresses and headers that are left empty stay. */
export function nodeUpdateOf(draft: NodeDraft): NodeUpdate {
  const [url, ws, grpc] = [draft.url.trim(), draft.ws.trim(), draft.grpc.trim()];
  return {
    ...(url !== '' && { url }),
    ...(ws !== '' && { ws }),
    ...(grpc !== '' && { grpc: grpc === 'off' ? null : grpc }),
    ...(draft.headers.trim() !== '' && { headers: headersIn(draft.headers) }),
    options: optionsIn(draft),
  };
}
