import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNotifications } from './pubsub-notifications.ts';
import { runExchanges, writePubsubRecording } from './pubsub-recording.ts';

export const recordingFiles = {
  exchanges: 'pubsub-exchanges.jsonl',
  notifications: 'pubsub-notifications.jsonl',
} as const;

/**
 * Records the PubSub server of a fresh ledger: the notifications that scripted transactions cause, then its responses
 * to messages, frames and handshakes.
 * @returns numbers of subscriptions and exchanges.
 */
export async function recordPubsub(rpcUrl: string, wsUrl: string, folder: string): Promise<[number, number]> {
  const node = { url: new URL(wsUrl), headers: {} };
  const [notifications = new Map()] = await runNotifications(rpcUrl, [node]);
  const exchanges = await runExchanges(node);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, recordingFiles.notifications), writePubsubRecording(notifications));
  writeFileSync(join(folder, recordingFiles.exchanges), writePubsubRecording(exchanges));
  return [notifications.size, exchanges.size];
}
