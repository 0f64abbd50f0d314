import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import { requestBounds } from '../../protocol/geyser/request/request-faults.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import { GrpcServer } from '../../servers/grpc/server.ts';
import type { GeyserHandler, StreamOpener } from '../../streams/geyser/geyser-handler.ts';

/** Address of the relay, and the token that it requires. Both change at each start. */
export type RelayAddress = Readonly<{ url: string; token: string }>;

export type ShredRelay = Readonly<{ address: RelayAddress; stop(): Promise<void> }>;

const HOST = '127.0.0.1';

/** Enough for 64 workers: two streams each, plus two per restarted worker while its old streams close. */
const CONNECTIONS_MAX = 256;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function relayHandler(hub: StreamOpener, token: string): GeyserHandler {
  const expected = digest(token);
  const checkToken = ({ credential }: Caller): void => {
    // timingSafeEqual needs inputs of equal length, so digests are compared.
    if (!timingSafeEqual(digest(credential ?? ''), expected)) throw new Failure('INVALID_KEY');
  };
  const rejectUnary = (caller: Caller): never => {
    checkToken(caller);
    throw new Failure('UNAUTHORIZED_PRODUCT');
  };
  return {
    open(caller, rpc, sink) {
      checkToken(caller);
      const opened = hub.open(rpc, sink);
      return {
        isUrgent: true,
        bounds: requestBounds,
        request: (request) => opened.request(request),
        recordSent: () => {},
        recordReceived: () => 0,
        close: () => opened.close(),
      };
    },
    admit: rejectUnary,
    unary: async (caller) => rejectUnary(caller),
  };
}

/** Relays the shred stage to the workers, on a loopback port protected by a token. */
export async function startShredRelay(hub: StreamOpener, log: Logger): Promise<ShredRelay> {
  const token = randomBytes(32).toString('base64url');
  const parts = { handler: relayHandler(hub, token), health: () => true, log };
  const server = new GrpcServer(parts, { host: HOST, connectionsMax: CONNECTIONS_MAX, compression: 'never' });
  const { port } = await server.listen();
  return { address: { url: `http://${HOST}:${port}`, token }, stop: () => server.close() };
}
