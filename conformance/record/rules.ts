/** What a rule puts in place of a value. */
export type Placeholder = 'slot' | 'tip' | 'time' | 'hash' | 'count' | 'version' | 'node';

export type PathRule = Readonly<{
  /** Members joined by dots, after the method; `*` is one member or index, `**` any number of them. */
  path: string;
  as: Placeholder;
  why: string;
}>;

/**
 * Values that differ between two ledgers that behave alike, by where they are. Only numbers become `slot`, `tip`,
 * `time` and `count`, only strings `hash` and `version`. Signatures, blockhashes and addresses that the script knows
 * have names (names.ts).
 */
export const pathRules: readonly PathRule[] = [
  { path: '**.context.slot', as: 'tip', why: 'slots pass between two calls' },
  { path: '**.contextSlot', as: 'tip', why: 'slots pass between two calls' },
  { path: '**.apiVersion', as: 'version', why: 'release of the node' },
  { path: 'getVersion.result.solana-core', as: 'version', why: 'release of the node' },
  { path: '**.slot', as: 'slot', why: 'slot in which a step landed' },
  { path: '**.parentSlot', as: 'slot', why: 'depends on the slot of a step' },
  { path: '**.blockHeight', as: 'tip', why: 'skipped slots' },
  { path: '**.blockTime', as: 'time', why: 'wall clock' },
  { path: '**.blockhash', as: 'hash', why: 'hash of a block' },
  { path: '**.previousBlockhash', as: 'hash', why: 'hash of a block' },
  { path: '**.lastValidBlockHeight', as: 'tip', why: 'slots pass between two calls' },
  { path: 'getSlot.result', as: 'tip', why: 'the tip moves' },
  { path: 'getBlockHeight.result', as: 'tip', why: 'the tip moves' },
  { path: 'getTransactionCount.result', as: 'count', why: 'votes are transactions' },
  { path: 'getBlockTime.result', as: 'time', why: 'wall clock' },
  { path: 'getFirstAvailableBlock.result', as: 'slot', why: 'depends on the age of the ledger' },
  { path: 'minimumLedgerSlot.result', as: 'slot', why: 'depends on the age of the ledger' },
  { path: 'getMaxRetransmitSlot.result', as: 'tip', why: 'the tip moves' },
  { path: 'getMaxShredInsertSlot.result', as: 'tip', why: 'the tip moves' },
  { path: '**.lastExtendedSlot', as: 'slot', why: 'slot of a step' },
  { path: '**.recentSlot', as: 'slot', why: 'chosen from the tip' },
  { path: '**.bumpSeed', as: 'count', why: 'follows from the recent slot' },
];

export type TextRule = Readonly<{ pattern: RegExp; replacement: string; why: string }>;

/** The same for values within texts, such as messages of errors and log lines. */
export const textRules: readonly TextRule[] = [
  { pattern: /(?<=\bslot )\d{1,9}\b/gi, replacement: '<slot>', why: 'the tip moves' },
];
