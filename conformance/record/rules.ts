/**
 * What a rule does with a value: a placeholder in its place, or
 * - `base58`: bytes as a bare text, in which named values are replaced;
 * - `signature`, `named hash`: a text without a name becomes a placeholder;
 * - `sorted`: the items of a list are in no order;
 * - `distinct`: of equal items of a list, one remains;
 * - `no votes`: items that concern votes of the validator are left out, since every slot has them at another place.
 */
export type Placeholder =
  | 'signature'
  | 'named hash'
  | 'sorted'
  | 'slot'
  | 'tip'
  | 'time'
  | 'hash'
  | 'count'
  | 'version'
  | 'base58'
  | 'distinct'
  | 'no votes';

export type PathRule = Readonly<{
  /** Members joined by dots, after the method; `*` is one member or index, `**` any number of them. */
  path: string;
  as: Placeholder;
  why: string;
}>;

/**
 * Values that differ between two ledgers that behave alike, by where they are. Only numbers become `slot`, `tip`,
 * `time` and `count`, only texts `hash` and `version`. Signatures, blockhashes and addresses that the script knows
 * have names (names.ts).
 */
export const pathRules: readonly PathRule[] = [
  { path: 'getRecentPrioritizationFees.result.*.slot', as: 'tip', why: 'one item a slot' },
  { path: '**.context.slot', as: 'tip', why: 'slots pass between two calls' },
  { path: '**.contextSlot', as: 'tip', why: 'slots pass between two calls' },
  { path: '**.apiVersion', as: 'version', why: 'release of the node' },
  { path: 'getVersion.result.solana-core', as: 'version', why: 'release of the node' },
  { path: 'getAccountInfo.result.value.data.parsed.info.*.slot', as: 'tip', why: 'a sysvar' },
  { path: 'getAccountInfo.result.value.data.parsed.info.slot', as: 'tip', why: 'a sysvar' },
  { path: 'getAccountInfo.result.value.data.parsed.info.nextSlot', as: 'tip', why: 'a sysvar' },
  { path: 'getAccountInfo.result.value.data.parsed.info.unixTimestamp', as: 'time', why: 'a sysvar' },
  { path: '**.info.votes', as: 'distinct', why: 'the validator votes in every slot' },
  { path: '**.votes.*.slot', as: 'tip', why: 'the validator votes in every slot' },
  { path: '**.votes.*.confirmationCount', as: 'count', why: 'the validator votes in every slot' },
  { path: '**.votes.*.latency', as: 'count', why: 'the validator votes in every slot' },
  { path: '**.rootSlot', as: 'tip', why: 'the validator votes in every slot' },
  { path: '**.lastVote', as: 'tip', why: 'the validator votes in every slot' },
  { path: '**.credits', as: 'count', why: 'earned by votes' },
  { path: '**.epochCredits.*.1', as: 'count', why: 'earned by votes' },
  { path: '**.lastTimestamp.slot', as: 'tip', why: 'the validator votes in every slot' },
  { path: '**.timestamp', as: 'time', why: 'wall clock' },
  { path: '**.initializationTimestamp', as: 'time', why: 'wall clock' },
  { path: '**.lastUpdateTimestamp', as: 'time', why: 'wall clock' },
  { path: '**.epochStartTimestamp', as: 'time', why: 'wall clock' },
  { path: '**.deactivationSlot', as: 'slot', why: 'slot of a step' },
  { path: '**.slot', as: 'slot', why: 'slot in which a step landed' },
  { path: '**.parentSlot', as: 'tip', why: 'a block without steps may be between two steps' },
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
  { path: 'getBlock.result.transactions', as: 'no votes', why: 'the validator votes in every slot' },
  { path: 'getBlock.result.signatures', as: 'no votes', why: 'the validator votes in every slot' },
  { path: 'getBlock.result.rewards.*.lamports', as: 'count', why: 'contains the fees of votes' },
  { path: 'getBlock.result.rewards.*.postBalance', as: 'count', why: 'contains the fees of votes' },
  { path: 'getBlock.result.transactions.*.transaction', as: 'base58', why: 'encoding `binary`' },
  { path: 'getTransaction.result.transaction', as: 'base58', why: 'encoding `binary`' },
  { path: '**.transactionIndex', as: 'count', why: 'votes may precede it' },
  { path: 'getRecentPrioritizationFees.result', as: 'distinct', why: 'one item a slot' },
  {
    path: 'getAccountInfo.result.value.data.parsed.info',
    as: 'distinct',
    why: 'sysvars list slots and hashes',
  },
  { path: '**.info.*.hash', as: 'hash', why: 'hash of a block' },
  { path: '**.bits', as: 'hash', why: 'one bit a slot' },
  { path: 'getEpochInfo.result.absoluteSlot', as: 'tip', why: 'the tip moves' },
  { path: 'getEpochInfo.result.slotIndex', as: 'tip', why: 'the tip moves' },
  { path: '**.transactionCount', as: 'count', why: 'votes are transactions' },
  { path: '**.lastSlot', as: 'tip', why: 'the tip moves' },
  { path: 'getBlockProduction.result.value.byIdentity.*.0', as: 'count', why: 'one a slot' },
  { path: 'getBlockProduction.result.value.byIdentity.*.1', as: 'count', why: 'one a slot' },
  { path: '**.signatures.*', as: 'signature', why: 'signatures of further signers have no names' },
  { path: '**.recentBlockhash', as: 'named hash', why: 'the faucet chooses its own' },
  { path: 'getProgramAccounts.result', as: 'sorted', why: 'sorted by addresses, of which some are random' },
  { path: '**.nonCirculatingAccounts', as: 'sorted', why: 'Agave lists a hash set' },
  { path: 'getBlocks.result', as: 'distinct', why: 'depends on the slots of steps' },
  { path: 'getBlocks.result.*', as: 'slot', why: 'slot of a step' },
  { path: 'getBlocksWithLimit.result.*', as: 'tip', why: 'depends on the slots of steps' },
  { path: 'getRecentPerformanceSamples.result', as: 'distinct', why: 'depends on the age of the ledger' },
  { path: 'getRecentPerformanceSamples.result.*.*', as: 'count', why: 'votes are transactions' },
  { path: 'getHighestSnapshotSlot.result.full', as: 'tip', why: 'depends on the age of the ledger' },
  { path: 'requestAirdrop.result', as: 'hash', why: 'signature of a new transaction' },
  { path: '**.bumpSeed', as: 'count', why: 'follows from the recent slot' },
];

export type TextRule = Readonly<{ pattern: RegExp; replacement: string; why: string }>;

/** The same for values within texts, such as messages of errors and log lines. */
export const textRules: readonly TextRule[] = [
  {
    pattern: /(?<=consumed )\d+ of \d+ compute units/g,
    replacement: '<units>',
    why: 'programs exist in several builds',
  },
  { pattern: /(?<=\bslot: )\d{1,9}\b/gi, replacement: '<slot>', why: 'the tip moves' },
  {
    pattern: /(?<=\b(?:max|min|firstSlot,|lastSlot,) )\d{2,9}(?=[ ,]|$)/g,
    replacement: '<slot>',
    why: 'the tip moves',
  },
  { pattern: /(?<=\bslot )\d{1,9}\b/gi, replacement: '<slot>', why: 'the tip moves' },
];
