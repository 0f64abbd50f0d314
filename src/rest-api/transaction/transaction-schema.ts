import { z } from 'zod';
import type { WritableJson } from '../../base/json.ts';
import { flag, oneOf } from '../fields.ts';

/** Source: rest-api.md §2.16–2.18. */
export const includeFields = {
  enable_raw: flag('Include `raw`: the getTransaction result in jsonParsed.'),
  enable_events: flag('Include the events emitted by programs.'),
};

/** Excludes `processed`, because a block that is only processed may still be dropped. */
export const settledCommitment = () =>
  oneOf(['confirmed', 'finalized'], 'confirmed', 'Commitment of the transactions.');

const text = (description: string) => z.string().meta({ description });

/** Integer that may exceed the precision of a double. */
const rawInteger = (description: string) =>
  z.custom<WritableJson>((value) => value !== undefined).meta({ type: 'integer', description });

const anything = z.custom<WritableJson>(() => true).meta({ description: 'Any JSON.' });

const protocol = z.object({
  address: text('Address of the program.'),
  name: text('Name; empty for unknown programs.'),
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
    info: z.record(z.string(), anything).readonly().meta({ description: 'Details, depending on `type`.' }),
    source_protocol: protocol.meta({ description: 'Program of the action.' }),
    type: text('`SOL_TRANSFER`, `TOKEN_TRANSFER`, `SWAP`, … or `UNKNOWN`.'),
    parent_protocol: text('Program of the outer instruction, for an inner one.').optional(),
    ix_index: z.number().meta({
      description: 'Index of the instruction, from 0: each outer one, followed by its inner ones.',
    }),
  })
  .readonly();

const event = z.object({
  data: z.record(z.string(), anything).readonly(),
  name: text('Event name in the program: `SwapEvent`.'),
});

/** Source: rest-api.md §3. */
export const parsedTransactionSchema = z.object({
  timestamp: z.string().nullable().meta({ description: 'ISO 8601, UTC; null if unknown.' }),
  fee: z.number().meta({ description: 'SOL.' }),
  fee_payer: text('Fee payer.'),
  signers: z.array(z.string()).readonly(),
  signatures: z.array(z.string()).readonly(),
  protocol: protocol.meta({ description: 'Program of the action that sets `type`.' }),
  type: text('Type of the first recognized action.'),
  status: z.enum(['Success', 'Fail']),
  token_balance_changes: z.array(balanceChange).readonly(),
  actions: z.array(action).readonly().meta({
    description: 'Program actions, then token and NFT transfers, then SOL transfers.',
  }),
  events: z.array(event).readonly().optional(),
  raw: anything.optional(),
});

export const rawTransactionSchema = z
  .custom<{ readonly [name: string]: WritableJson }>(
    (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  )
  .meta({ type: 'object', description: 'The result of getTransaction in jsonParsed.' });
