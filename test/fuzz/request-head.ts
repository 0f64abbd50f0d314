import type { IncomingMessage } from 'node:http';
import { readTraceparent, TraceSampler } from '../../src/gateway/telemetry/request-log.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { sessionOf } from '../../src/servers/caller.ts';
import { decodeHead, isGrpc } from '../../src/servers/grpc/decode.ts';
import { splitUrl } from '../../src/servers/http/decode.ts';
import { restCredentialOf } from '../../src/servers/rest/decode.ts';
import { accepted } from './engine/accepted.ts';

export const from = 'clients';
export const covers = [
  'gateway/telemetry/request-log.ts',
  'servers/caller.ts',
  'servers/grpc/decode.ts',
  'servers/caller.ts',
];

/** The target of a request, then its fields, a line each. */
export const seeds: readonly Uint8Array[] = [
  '/geyser.Geyser/Subscribe\nx-token: good\ngrpc-encoding: gzip\ngrpc-accept-encoding: identity, zstd,gzip\ngrpc-timeout: 20S',
  '/sol/v1/wallet/balance?api_key=k&network=devnet\nx-api-key: \nauthorization: bearer  good ',
  'http://host.example/v1/rpc?api-key=a%20b&api-key=c#d\ncontent-type: application/grpc+proto; a=b',
  '*\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '?\ntraceparent: cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more\nx-solway-session: tab 7',
].map((text) => Buffer.from(text));

const sampler = new TraceSampler(0.5);

type Head = { url: string; headers: Record<string, string> };

function headIn(text: string): Head {
  const [url = '', ...lines] = text.split('\n');
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(':', 1);
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { url, headers };
}

function checkTrace(traceparent: string): void {
  const link = readTraceparent(traceparent);
  if (link !== null && !/^[0-9a-f]{32} [0-9a-f]{16}$/.test(`${link.traceId} ${link.parentId}`))
    throw new Error('took ids that are none');
  sampler.linkOf(traceparent);
}

function checkCredential({ url, headers }: Head): void {
  const { query } = splitUrl(url);
  const credential = restCredentialOf({ headers } as unknown as IncomingMessage, query);
  const given = [...Object.values(headers), ...new URLSearchParams(query).values()];
  if (credential !== null && !given.some((text) => text.includes(credential)))
    throw new Error('a key that nobody sent');
}

/** Whatever a head says: a known refusal, or parts of what was sent. @returns whether gRPC takes it. */
export function fuzz(input: Uint8Array): boolean {
  const head = headIn(Buffer.from(input).toString('latin1'));
  const { headers } = head;
  checkCredential(head);
  checkTrace(headers.traceparent ?? '');
  const session = sessionOf(headers['x-solway-session']);
  if (session !== null && (session === '' || session.length > 64))
    throw new Error('a session without bounds');
  isGrpc(headers['content-type']);
  return accepted(() => {
    const { timeoutMs, accepted: encodings } = decodeHead(headers);
    if (timeoutMs !== null && !(timeoutMs >= 0 && timeoutMs < 1e15)) throw new Error('a time without end');
    if (encodings.some((encoding) => !['gzip', 'zstd'].includes(encoding)))
      throw new Error('an encoding that nobody knows');
  }, GrpcError);
}
