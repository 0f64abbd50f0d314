import { Failure } from '../../protocol/errors.ts';
import { type SubscriptionMethod, subscriptionByMethod } from '../../protocol/pubsub/subscription-method.ts';
import {
  decodeEnvelope,
  type Envelope,
  type EnvelopeItem,
  type EnvelopeLimits,
} from '../../protocol/request-envelope.ts';

/** A call of the client. */
export type ClientCall = EnvelopeItem & { kind: 'call' };

/** What came of a message: an envelope, or why it is none. */
export type Received = Readonly<{ envelope: Envelope; failure: null } | { envelope: null; failure: Failure }>;

/** A message as JSON-RPC. Binary messages that hold UTF-8 are texts, as for Agave. */
export function decodeMessage(message: Buffer, limits: EnvelopeLimits): Received {
  try {
    return { envelope: decodeEnvelope(message, limits), failure: null };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return { envelope: null, failure: thrown };
  }
}

/** What a call does to subscriptions; undefined when it is an ordinary one. */
export const subscriptionMethodOf = ({ method }: ClientCall): SubscriptionMethod | undefined =>
  subscriptionByMethod(method);
