import type { WritableJson } from '../../base/json.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { ExecutedTransaction } from '../../solana/block.ts';
import { inDeclaredOrder, transactionWithMetaOrder } from '../../solana/encoding/declared-order.ts';
import { encodeTransactionWithMeta } from '../../solana/encoding/ui-transaction.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';
import { resultIn, resultOf } from './result-json.ts';

/** How a `transaction` subscription shows transactions. */
export type TransactionShape = Pick<
  SubscriptionOf<'transaction'>,
  'dialect' | 'encoding' | 'details' | 'rewards' | 'maxVersion'
> &
  Readonly<{
    /** Equal for equal shapes. */
    name: string;
  }>;

/** The shape in which a subscription is told transactions: what is asked of encoding, and nothing of which ones. */
export function transactionShape(subscription: SubscriptionOf<'transaction'>): TransactionShape {
  const { dialect, encoding, details, rewards, maxVersion } = subscription;
  return {
    dialect,
    encoding,
    details,
    rewards,
    maxVersion,
    name: [dialect, encoding, details, rewards, maxVersion].join(),
  };
}

/** What is shown of a transaction. */
type TransactionSource = Readonly<{
  slot: Slot;
  index: number;
  signature: Signature | undefined;
  executed: ExecutedTransaction;
}>;

type Encoded = ReturnType<typeof encodeTransactionWithMeta>;

function encode(
  { executed }: TransactionSource,
  { encoding, details, rewards, maxVersion }: TransactionShape,
): Encoded {
  const encoded = encodeTransactionWithMeta(executed, encoding, maxVersion, details, rewards);
  if ('unsupportedVersion' in encoded) return encoded;
  return { json: inDeclaredOrder(encoded.json, transactionWithMetaOrder) };
}

const hasBody = ({ details }: TransactionShape): boolean => details === 'full' || details === 'accounts';

/** `{transaction?, signature, slot, transactionIndex}`. Versions that the client does not understand are not told. */
function heliusResult(source: TransactionSource, shape: TransactionShape): Buffer | null {
  const encoded: Encoded = hasBody(shape) ? encode(source, shape) : { json: undefined };
  if ('unsupportedVersion' in encoded) return null;
  const { signature, slot, index } = source;
  return resultOf({ transaction: encoded.json, signature, slot, transactionIndex: index });
}

/** `{context, value: {slot, signature?, transaction?, error?}}`. Source: richat src/pubsub/notification.rs. */
function whirligigResult(source: TransactionSource, shape: TransactionShape): Buffer {
  const { signature, slot } = source;
  const body = hasBody(shape) ? whirligigBody(encode(source, shape)) : {};
  return resultIn(slot, { slot, signature: shape.details === 'signatures' ? signature : undefined, ...body });
}

const whirligigBody = (encoded: Encoded): { readonly [name: string]: WritableJson } =>
  'unsupportedVersion' in encoded
    ? { error: { UnsupportedTransactionVersion: encoded.unsupportedVersion } }
    : { transaction: encoded.json };

/** A transaction in the shape of a public dialect (reference §3.3); null when that does not tell it. */
export function transactionResult(source: TransactionSource, shape: TransactionShape): Buffer | null {
  return shape.dialect === 'helius' ? heliusResult(source, shape) : whirligigResult(source, shape);
}
