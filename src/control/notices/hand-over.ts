import type { Mailer } from '../api/services.ts';
import type { NoticeTargetTable } from '../database/tables/notices.ts';
import { MailError } from '../mail.ts';
import { type Notice, wordsOf } from './notice.ts';
import type { WebhookSeal } from './sealed-webhook.ts';
import { type Posted, signedHeaders, type WebhookSender } from './webhook.ts';

/** The ways on which notices go; null where there is none. */
export type NoticeWays = Readonly<{
  webhooks: WebhookSender | null;
  mailer: Mailer | null;
  seal: WebhookSeal;
}>;

/** What came of it. `problem` is null when it was handed over; `isFinal`: another try would end no better. */
export type HandedOver = Readonly<{ problem: string | null; isFinal: boolean }>;

const done: HandedOver = { problem: null, isFinal: true };
const later = (problem: string): HandedOver => ({ problem, isFinal: false });
const never = (problem: string): HandedOver => ({ problem, isFinal: true });

const GONE = 410;

function outcomeOf(posted: Posted): HandedOver {
  if (posted.kind === 'refused') return never('the host of the URL has no public address');
  if (posted.kind === 'failed') return later('the host of the URL did not answer in time');
  const { status } = posted;
  if (status >= 200 && status < 300) return done;
  if (status === GONE) return never('the host answered 410: it wants no more of these');
  return later(`the host answered ${status}`);
}

async function call(
  { webhooks, seal }: NoticeWays,
  target: NoticeTargetTable,
  notice: Notice,
  id: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<HandedOver> {
  if (webhooks === null) return later('webhooks are sent by a running gateway alone');
  const webhook = seal.open(target, target.customer_id, target.id);
  if (webhook === null) return never('the webhook cannot be read with the pepper of today: add it again');
  const refusal = webhooks.refusal(webhook.url);
  if (refusal !== null) return never(`the URL ${refusal}`);
  const body = JSON.stringify(notice);
  const headers = signedHeaders(webhook.secret, id, body, nowMs);
  return outcomeOf(await webhooks.post(webhook.url, headers, body, signal));
}

async function mail({ mailer }: NoticeWays, target: NoticeTargetTable, notice: Notice): Promise<HandedOver> {
  if (mailer === null) return later('no mail server is configured: the operator sets mail.smtp_url');
  try {
    await mailer.send({ to: target.shown, ...wordsOf(notice) });
    return done;
  } catch (error) {
    return later(error instanceof MailError ? error.message : 'the mail could not be handed over');
  }
}

/** Hands a notice over to a target, once. Never rejects. @param id - the same at each try. */
export function handOver(
  ways: NoticeWays,
  target: NoticeTargetTable,
  notice: Notice,
  { id, nowMs, signal }: Readonly<{ id: string; nowMs: number; signal: AbortSignal }>,
): Promise<HandedOver> {
  return target.kind === 'email' ? mail(ways, target, notice) : call(ways, target, notice, id, nowMs, signal);
}
