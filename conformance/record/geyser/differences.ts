/** Differences from the recording, as `stream: lacks …`, `stream: has …` or `stream: status …`, and their reason. */
export type GeyserDifference = Readonly<{
  text: RegExp;
  /** Whether the difference depends on chance. */
  sometimes?: true;
  why: string;
}>;

export const geyserDifferences: readonly GeyserDifference[] = [
  {
    text: /has \S* ?\{"block_meta":.*"rewards":\[\]/,
    sometimes: true,
    why: 'Block 1 has no vote and so no fees. It was over when the recording began.',
  },
  {
    text: /"signature":"<signature:(?:[^>]*memos?|fail: memo bytes|fail: compute units)>"/,
    why: 'Another release of the Memo program.',
  },
  {
    text: /"pubkey":"<stake2?>"/,
    why: 'Another release of the Stake program, which leaves the rate of warmup out.',
  },
  {
    text: /lacks .*"lamports":"0".*<signature:(?:wrap and unwrap|close token account)>/,
    why: 'Agave also reports accounts that one transaction creates and closes; in the ledger these never exist.',
  },
  { text: /"pubkey":"<mint22-interest>"/, why: 'Contains the time.' },
  { text: /"pubkey":"<table2?>"|<signature:fail: table in use>/, why: 'Contains slots.' },
  {
    text: /any owner, token account state: \w+ \S* ?\{"account":\{"pubkey":"SysvarS1otHashes/,
    sometimes: true,
    why: 'The filter looks at the data only, and hashes may look like a token account.',
  },
  {
    text: /^refused: a slot that is far away: status/,
    why: 'A stream waits for a slot ahead of the node, because its client may come from a node that is ahead.',
  },
  {
    text: /^IsBlockhashValid: /,
    why: 'The plugin responds only after some 300 blocks; the ledger knows its blockhashes at once.',
  },
  { text: /^GetVersion: /, why: 'Solway is not built by Cargo: it has no build time, commit and compiler.' },
];
