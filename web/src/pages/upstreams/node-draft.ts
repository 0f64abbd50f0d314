import type { RouteInput, RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { type ApiProblem, fieldProblem } from '../../api.ts';

export type AddedNodeJson = RouteOutput<'GET /upstreams'>['added'][number];

export type NodeDraft = Readonly<{
  network: string;
  name: string;
  url: string;
  ws: string;
  grpc: string;
  headers: string;
  requestsPerSecond: string;
  requestsBurst: string;
  priority: string;
  weight: string;
  methods: string;
  archive: string;
  indexes: string;
  region: string;
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
  priority: '',
  weight: '',
  methods: '',
  archive: '',
  indexes: '',
  region: '',
  pipelining: '',
});

const linesIn = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

export const headersProblem = ({ headers }: NodeDraft): ApiProblem | null =>
  linesIn(headers).every((line) => line.includes(':'))
    ? null
    : fieldProblem('headers', 'Write each header as name: value.');

/** Every line must contain a colon; see `headersProblem`. */
const headersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesIn(text).map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );

export const optionNames = {
  requests_per_second: 'requestsPerSecond',
  requests_burst: 'requestsBurst',
  priority: 'priority',
  weight: 'weight',
  methods: 'methods',
  archive: 'archive',
  indexes: 'indexes',
  region: 'region',
  pipelining: 'pipelining',
} as const;

const isList = (option: string): boolean => option === 'methods' || option === 'indexes';
const answers: Readonly<Record<string, boolean>> = { yes: true, no: false };

/** The service validates the values. */
function optionValueOf(option: string, text: string): unknown {
  if (isList(option)) return text.split(/[\s,]+/).filter((name) => name !== '');
  if (option === 'archive') return answers[text.toLowerCase()] ?? text;
  return option !== 'region' && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function optionText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value == null ? '' : String(value);
}

/** Empty fields use configuration defaults. */
function optionsIn(draft: NodeDraft): Record<string, unknown> {
  const written = Object.entries(optionNames).map(([name, field]) => [name, draft[field].trim()] as const);
  return Object.fromEntries(
    written.flatMap(([name, text]) => (text === '' ? [] : [[name, optionValueOf(name, text)]])),
  );
}

type ConnectionInput = RouteInput<'POST /upstreams/test'>['body'];

export function connectionInputOf(draft: NodeDraft): ConnectionInput {
  const { network, url, ws, grpc, headers } = draft;
  return {
    network,
    url: url.trim(),
    ...(ws.trim() !== '' && { ws: ws.trim() }),
    ...(grpc.trim() !== '' && { grpc: grpc.trim() }),
    headers: headersIn(headers),
    options: optionsIn(draft),
  };
}

export function draftOf({ network, name, options }: AddedNodeJson): NodeDraft {
  const written = Object.entries(optionNames).map(
    ([option, field]) => [field, optionText(options?.[option])] as const,
  );
  return { ...emptyDraft(network), name, ...Object.fromEntries(written) };
}

type NodeUpdate = Omit<RouteInput<'PATCH /upstreams/{node}'>['body'], 'force'>;

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
