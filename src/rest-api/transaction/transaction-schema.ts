import { z } from 'zod';
import type { WritableJson } from '../../base/json.ts';
import { flag, oneOf } from '../fields.ts';

/** Fields that the endpoints of transactions share. Source: rest-api.md §2.16–2.18. */
export const includeFields = {
  enable_raw: flag('Whether each transaction comes with `raw`: what getTransaction says in jsonParsed.'),
  enable_events: flag('Whether each transaction comes with the events that its programs emitted.'),
};

/** Transactions are told from `confirmed` on: before, a block may still go. */
export const settledCommitment = () =>
  oneOf(['confirmed', 'finalized'], 'confirmed', 'How final the transactions must be.');

const text = (description: string) => z.string().meta({ description });

/** An integer of any size: with all of its digits where a number has no room for them. */
const rawInteger = (description: string) =>
  z.custom<WritableJson>((value) => value !== undefined).meta({ type: 'integer', description });

const anything = z.custom<WritableJson>(() => true).meta({ description: 'Any JSON.' });

const protocol = z.object({
  address: text('Address of the program.'),
  name: text('Its name; empty where it has none here.'),
});

const balanceChange = z.object({
  address: text('The token account.'),
  decimals: z.number().nullable(),
  change_amount: rawInteger('Base units.'),
  post_balance: rawInteger('Base units.'),
  pre_balance: rawInteger('Base units.'),
  mint: text('The mint.'),
  owner: z.string().nullable().meta({ description: 'The wallet.' }),
});

const action = z
  .object({
    info: z.record(z.string(), anything).readonly().meta({ description: 'Who and what: by `type`.' }),
    source_protocol: protocol.meta({ description: 'The program that did it.' }),
    type: text('`SOL_TRANSFER`, `TOKEN_TRANSFER`, `SWAP`, … or `UNKNOWN`.'),
    parent_protocol: text(
      'Where one program called another: the program of the outer instruction.',
    ).optional(),
    ix_index: z.number().meta({
      description:
        'Number of the instruction, from 0: each of the message, followed by those that it called.',
    }),
  })
  .readonly();

const event = z.object({
  data: z.record(z.string(), anything).readonly(),
  name: text('As the program names it: `SwapEvent`.'),
});

/** A transaction by its meaning. Source: rest-api.md §3. */
export const parsedTransactionSchema = z.object({
  timestamp: z.string().nullable().meta({ description: 'ISO 8601, UTC; null where the node knows none.' }),
  fee: z.number().meta({ description: 'SOL.' }),
  fee_payer: text('Who paid the fee.'),
  signers: z.array(z.string()).readonly(),
  signatures: z.array(z.string()).readonly(),
  protocol: protocol.meta({ description: 'The program of the action that `type` is taken from.' }),
  type: text('What the transaction is about: the first action that is known.'),
  status: z.enum(['Success', 'Fail']),
  token_balance_changes: z.array(balanceChange).readonly(),
  actions: z.array(action).readonly().meta({
    description: "Programs' actions, then transfers of tokens and NFTs, then transfers of SOL.",
  }),
  events: z.array(event).readonly().optional(),
  raw: anything.optional(),
});

/** A transaction as a node tells it in jsonParsed. */
export const rawTransactionSchema = z
  .custom<{ readonly [name: string]: WritableJson }>(
    (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  )
  .meta({ type: 'object', description: 'The result of getTransaction in jsonParsed.' });
