import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Peer, pubsubDifferences } from '../../conformance/record/pubsub-differences.ts';
import { runNotifications } from '../../conformance/record/pubsub-notifications.ts';
import { recordingFiles } from '../../conformance/record/pubsub-record.ts';
import {
  type PubsubRecording,
  readPubsubRecording,
  runExchanges,
} from '../../conformance/record/pubsub-recording.ts';
import { type PubsubPeers, startPubsubPeers } from './pubsub-peers.ts';

const read = (name: string): PubsubRecording =>
  readPubsubRecording(readFileSync(join(import.meta.dirname, 'recordings', name), 'utf8'));
const exchanges = read(recordingFiles.exchanges);
const notifications = read(recordingFiles.notifications);

let peers: PubsubPeers;
beforeAll(async () => {
  peers = await startPubsubPeers();
}, 120_000);
afterAll(() => peers?.close());

/** Cases whose difference has no reason in the table, and cases with a reason that do not differ. */
function unexplained(peer: Peer, theirs: PubsubRecording, ours: PubsubRecording | undefined) {
  const entries = pubsubDifferences.filter(({ on }) => on.includes(peer));
  const found: Record<string, unknown> = {};
  for (const [name, recorded] of theirs) {
    const reasons = entries.filter(({ cases, but }) => cases.test(name) && but?.test(name) !== true);
    const isEqual = JSON.stringify(recorded) === JSON.stringify(ours?.get(name));
    if (isEqual && reasons.some(({ sometimes }) => !sometimes)) found[name] = 'no longer differs';
    if (!isEqual && reasons.length === 0) found[name] = { recorded, ours: ours?.get(name) };
  }
  return found;
}

describe('PubSub, compared with a recording of Agave,', () => {
  it('sends the same notifications from the ledger and through the gateway', async () => {
    const [ledger, gateway] = await runNotifications(peers.rpcUrl, [peers.ledger, peers.gateway]);
    expect(unexplained('ledger', notifications, ledger)).toEqual({});
    expect(unexplained('gateway', notifications, gateway)).toEqual({});
  });

  it.each<Peer>(['ledger', 'gateway'])('answers messages, frames and handshakes alike: %s', async (peer) => {
    expect(unexplained(peer, exchanges, await runExchanges(peers[peer], exchanges))).toEqual({});
  });

  it('has cases for every difference', () => {
    const names = [...exchanges.keys(), ...notifications.keys()];
    expect(pubsubDifferences.filter(({ cases }) => !names.some((name) => cases.test(name)))).toEqual([]);
  });
});
