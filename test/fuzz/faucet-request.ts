import { connect } from 'node:net';
import { startFaucetServer } from '../../packages/localnet/src/network/faucet-server.ts';
import { createLogger } from '../../src/base/log.ts';

export const from = 'clients of the embedded ledger';
export const covers = ['localnet/network/faucet-server.ts'];

const REQUEST_BYTES = 76;
const good = Buffer.alloc(REQUEST_BYTES, 7);
good.writeUInt32LE(0, 0);

export const seeds: readonly Uint8Array[] = [
  good,
  Buffer.concat([good, good]),
  good.subarray(0, 70),
  Buffer.alloc(REQUEST_BYTES, 1),
];

const TRANSACTION = Buffer.from('a transaction');
const { port } = await startFaucetServer({
  ...{ host: '127.0.0.1', port: 0, log: createLogger('silent', () => {}) },
  sign: () => TRANSACTION,
});

/** Each whole request has one answer, signed or refused, whatever it says. */
export function fuzz(bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = Buffer.alloc(0);
    const wanted = Math.floor(bytes.length / REQUEST_BYTES);
    const end = (): void => {
      socket.destroy();
      const signed = received.toString('latin1').split(TRANSACTION.toString()).length - 1;
      const refused = (received.length - signed * (TRANSACTION.length + 2)) / 2;
      if (signed + refused === wanted) resolve(signed > 0);
      else reject(new Error(`${wanted} requests, ${signed} signed and ${refused} refused`));
    };
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece]);
    });
    socket.on('error', reject);
    socket.on('end', end);
    socket.end(bytes);
  });
}
