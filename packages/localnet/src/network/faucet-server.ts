import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { ByteReader } from '../../../../src/base/bytes.ts';
import type { Logger } from '../../../../src/base/log.ts';
import { type Address, addressFromBytes } from '../../../../src/solana/address.ts';
import { type Blockhash, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { type Lamports, lamports } from '../../../../src/solana/units.ts';

/** Request size: GetAirdrop as u32, lamports u64, recipient 32, blockhash 32. */
const REQUEST_BYTES = 4 + 8 + 32 + 32;
const GET_AIRDROP = 0;
/** Response to a rejected request: length 0. */
const REJECTED = Buffer.alloc(2);

/** Signs a faucet transfer without sending it. @returns wire bytes. */
export type SignAirdrop = (to: Address, amount: Lamports, blockhash: Blockhash) => Uint8Array;

type FaucetServerOptions = Readonly<{
  host: string;
  /** 0 picks a free port. */
  port: number;
  sign: SignAirdrop;
  log: Logger;
  /** Maximum connections. Default 64. */
  connectionsMax?: number;
  /** Default 10 s. */
  idleTimeoutMs?: number;
}>;

export type FaucetServer = Readonly<{ port: number; close(): Promise<void> }>;

/** Response: length as u16, then the transaction. */
function answer(request: Uint8Array, { sign, log }: FaucetServerOptions): Uint8Array {
  const reader = new ByteReader(request);
  if (reader.u32() !== GET_AIRDROP) return REJECTED;
  const amount = lamports(reader.u64());
  try {
    const to = addressFromBytes(reader.bytes(32));
    const transaction = sign(to, amount, blockhashFromBytes(reader.bytes(32)));
    const length = Buffer.alloc(2);
    length.writeUInt16LE(transaction.length);
    return Buffer.concat([length, transaction]);
  } catch (error) {
    log.warn({ err: error }, 'faucet failed to sign a transfer');
    return REJECTED;
  }
}

/** Handles requests split across packets. */
function serve(socket: Socket, options: FaucetServerOptions): void {
  let waiting: Buffer = Buffer.alloc(0);
  socket.setTimeout(options.idleTimeoutMs ?? 10_000, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (piece) => {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= REQUEST_BYTES) {
      socket.write(answer(waiting.subarray(0, REQUEST_BYTES), options));
      waiting = waiting.subarray(REQUEST_BYTES);
    }
  });
}

/**
 * Faucet server as in solana-test-validator: it signs transfers, which the client then sends. Source: agave
 * faucet/src/faucet.rs.
 */
export async function startFaucetServer(options: FaucetServerOptions): Promise<FaucetServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket, options);
  });
  server.maxConnections = options.connectionsMax ?? 64;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port, close };
}
