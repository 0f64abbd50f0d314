import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/base/log.ts';
import { addressBytes } from '../../../../src/solana/address.ts';
import { blockhashBytes, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import { Keypair, verifyTransaction } from '../../../../src/solana/ed25519.ts';
import { decodeTransaction } from '../../../../src/solana/transaction/decode-transaction.ts';
import { faucetTransfer } from '../bank/faucet.ts';
import { type FaucetServer, startFaucetServer } from './faucet-server.ts';

const faucet = Keypair.fromSeed(new Uint8Array(32).fill(3));
const receiver = Keypair.fromSeed(new Uint8Array(32).fill(4)).address;
const blockhash = blockhashFromBytes(new Uint8Array(32).fill(5));

let server: FaucetServer;
beforeAll(async () => {
  server = await startFaucetServer({
    host: '127.0.0.1',
    port: 0,
    sign: (to, amount, hash) => {
      if (amount === 0n) throw new Error('nothing to give');
      return faucetTransfer(faucet, to, amount, hash).wire;
    },
    log: createLogger('silent', () => {}),
  });
});
afterAll(() => server.close());

function request(lamports: bigint, variant = 0): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(variant);
  head.writeBigUInt64LE(lamports, 4);
  return Buffer.concat([head, addressBytes(receiver), blockhashBytes(blockhash)]);
}

async function read(socket: Socket, length: number): Promise<Buffer> {
  let all: Buffer = Buffer.alloc(0);
  while (all.length < length) {
    const [piece] = (await once(socket, 'data')) as [Buffer];
    all = Buffer.concat([all, piece]);
  }
  return all;
}

async function open(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

describe('faucet server', () => {
  it('signs a transfer with the given blockhash', async () => {
    const socket = await open();
    socket.write(request(7n));
    const head = await read(socket, 2);
    const length = head.readUInt16LE();
    const bytes =
      head.length >= 2 + length ? head : Buffer.concat([head, await read(socket, 2 + length - head.length)]);
    const decoded = decodeTransaction(new Uint8Array(bytes.subarray(2, 2 + length)));
    if ('fault' in decoded) throw new Error(decoded.fault);
    expect(verifyTransaction(decoded.transaction)).toBe(true);
    expect(decoded.transaction.message.recentBlockhash).toBe(blockhash);
    expect(decoded.transaction.message.accountKeys.slice(0, 2)).toEqual([faucet.address, receiver]);
    socket.destroy();
  });

  it('handles several requests per connection, split anywhere', async () => {
    const socket = await open();
    const both = Buffer.concat([request(1n), request(2n)]);
    socket.write(both.subarray(0, 50));
    socket.write(both.subarray(50));
    const expected = faucetTransfer(faucet, receiver, 1n as never, blockhash).wire.length;
    const answers = await read(socket, 2 * (2 + expected));
    expect(answers.readUInt16LE(0)).toBe(expected);
    expect(answers.readUInt16LE(2 + expected)).toBe(expected);
    socket.destroy();
  });

  it.each([
    ['another request type', request(1n, 9)],
    ['an unsignable request', request(0n)],
  ])('responds to %s with an empty transaction', async (_name, bytes) => {
    const socket = await open();
    socket.write(bytes);
    expect([...(await read(socket, 2))]).toEqual([0, 0]);
    socket.destroy();
  });
});
