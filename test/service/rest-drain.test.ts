import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { FundedService } from '../clients/funded-service.ts';
import { eventually } from './eventually.ts';

/** With 31 slots of one second, a transaction is not finalized before the service stops. */
const SLOT_MS = 1_000;

let funded: FundedService;
beforeAll(async () => {
  funded = await FundedService.start(SLOT_MS);
}, 60_000);
afterAll(() => funded?.stop());

it('shutdown returns the sent transactions to a request that waits for their commitment', async () => {
  const { service, connection } = funded;
  const transfer = await funded.transfer(Keypair.generate().publicKey, 5_000_000);
  const sending = fetch(`${service.ready.url}/sol/v1/transaction/send_many_txns`, {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      encoded_transactions: [transfer.serialize().toString('base64')],
      commitment: 'finalized',
    }),
  });
  const signature = encodeBase58(transfer.signature as Buffer);
  await eventually(async () => {
    const { value } = await connection.getSignatureStatus(signature);
    return value !== null;
  }, 'the transaction is on the chain');
  const [exitCode, response] = await Promise.all([service.stop(), sending]);
  expect([exitCode, response.status]).toEqual([0, 200]);
  expect(await response.json()).toMatchObject({
    success: true,
    result: [{ id: 1, signature: expect.any(String), error: { message: expect.any(String) } }],
  });
});
