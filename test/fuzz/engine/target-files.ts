import type { FuzzTarget, Target } from './target.ts';

/** The targets of each file of test/fuzz/targets, which exports `answerTarget` for the target `answer`. */
const groups = {
  text: [
    'json-scan',
    'exact-json',
    'texts',
    'envelope',
    'rpc-parameters',
    'subscription-parameters',
    'call-key',
    'websocket-message',
  ],
  nodes: [
    'answer',
    'passed-answer',
    'response-reader',
    'pubsub-message',
    'node-results',
    'ui-block',
    'node-readers',
    'stored-answer',
    'given-node',
    'table-reads',
  ],
  accounts: [
    'account-state',
    'parsed',
    'token-mint',
    'sns-accounts',
    'token-list',
    'nft',
    'nft-filters',
    'nft-instruction',
  ],
  transactions: ['decode-transaction', 'send-request', 'wire-text', 'program-events', 'run-transaction'],
  geyser: ['subscribe-update', 'raw-update', 'subscribe-request', 'request-frames', 'geyser-answers'],
  shreds: ['entries', 'entry-batch', 'deshred-update', 'deshredder'],
  http: [
    'http-servers',
    'request-head',
    'multipart',
    'ipfs-request',
    'forwarded-for',
    'own-origin',
    'upload-facts',
  ],
  rest: ['rest-request', 'endpoint-answers'],
  'off-chain': [
    'cached-document',
    'off-chain-uri',
    'off-chain-content',
    'off-chain-document',
    'storage-nodes',
  ],
  localnet: ['faucet-request', 'localnet-body', 'ledger-files', 'slot-record'],
  operator: [
    'api-key',
    'key-rules',
    'sign-in',
    'control-request',
    'configuration',
    'usage-journal',
    'leak-report',
    'backup-file',
  ],
} as const;

export const targetNames: readonly string[] = Object.values(groups).flat().sort();

const exportOf = (name: string): string =>
  `${name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Target`;

/** Loads only the file of the target. */
export async function loadTarget(name: string): Promise<FuzzTarget> {
  const group = Object.entries(groups).find(([, names]) => (names as readonly string[]).includes(name))?.[0];
  const exports: Record<string, Target> = await import(`../targets/${group}.ts`);
  const target = exports[exportOf(name)];
  if (target === undefined) throw new TypeError(`targets/${group}.ts does not export ${exportOf(name)}`);
  return { name, ...target };
}

/** Targets that files export without being listed above. */
export async function unlistedTargets(): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(groups).map(async ([group, names]) => {
      const listed = names.map(exportOf);
      const exports: object = await import(`../targets/${group}.ts`);
      return Object.keys(exports).filter((name) => name.endsWith('Target') && !listed.includes(name));
    }),
  );
  return found.flat();
}
