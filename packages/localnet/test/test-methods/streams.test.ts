import { CommitmentLevel } from '@triton-one/yellowstone-grpc';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalnetGeyser, openLocalnetGeyser } from '../../../../src/app/localnet/localnet-geyser.ts';
import { addressBytes } from '../../../../src/solana/address.ts';
import { connected, listen, nothing } from '../../../../test/clients/yellowstone-client.ts';
import { Lab } from '../ledger/lab.ts';
import { openPubsubRig, type PubsubRig } from '../pubsub-rig.ts';
import { key } from '../support/accounts.ts';
import { callsOn } from './test-rig.ts';

/** What subscribers see of accounts that test methods change. */
const ADDRESS = key(44);

let rig: PubsubRig;
let geyser: LocalnetGeyser;
beforeAll(async () => {
  rig = await openPubsubRig({}, await Lab.open());
  const log = pino({ level: 'silent' });
  geyser = await openLocalnetGeyser(rig.lab.node, { host: '127.0.0.1', ports: [0], drainGraceMs: 0, log });
});
afterAll(async () => {
  await geyser?.close();
  await rig?.close();
});

it('reaches PubSub and Geyser in the slot of the change', async () => {
  const client = await rig.client();
  const id = await client.call('accountSubscribe', [
    ADDRESS,
    { commitment: 'confirmed', encoding: 'base64' },
  ]);
  const listening = await listen(await connected(`http://127.0.0.1:${geyser.port}`, undefined), {
    ...nothing(),
    commitment: CommitmentLevel.CONFIRMED,
    accounts: { changed: { account: [ADDRESS], owner: [], filters: [] } },
  });
  // Requests are handled in order, so the pong shows that the filter is active.
  await listening.send({ ...nothing(), ping: { id: 1 } });
  await listening.first(({ pong }) => pong !== undefined);
  const { context } = await callsOn(rig.lab.node)('surfnet_setAccount', ADDRESS, { lamports: 70 });
  expect(await client.received(id)).toMatchObject({
    context: { slot: context.slot },
    value: { lamports: 70 },
  });
  const { account } = await listening.first((update) => update.account !== undefined);
  expect(account).toMatchObject({ slot: String(context.slot), account: { lamports: '70' } });
  expect(Buffer.from(account?.account?.pubkey ?? []).equals(addressBytes(ADDRESS))).toBe(true);
  listening.close();
  await client.close();
});
