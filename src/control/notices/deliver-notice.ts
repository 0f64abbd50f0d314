import type { Mailer } from '../api/services.ts';
import type { NoticeTargetTable } from '../database/tables/notices.ts';
import { MailError } from '../mail.ts';
import { type Notice, renderNotice } from './notice.ts';
import type { WebhookSeal } from './sealed-webhook.ts';
import { type PostResult, signedHeaders, type WebhookSender } from './webhook.ts';

/** The ways on which notices go; null where there is none. */
export type NoticeChannels = Readonly<{
  webhooks: WebhookSender | null;
  mailer: Mailer | null;
  seal: WebhookSeal;
}>;

/** What came of it. `problem` is null when it was handed over; `isFinal`: another try would end no better. */
export type DeliveryResult = Readonly<{ problem: string | null; isFinal: boolean }>;

const delivered: DeliveryResult = { problem: null, isFinal: true };
const retryableFailure = (problem: string): DeliveryResult => ({ problem, isFinal: false });
const permanentFailure = (problem: string): DeliveryResult => ({ problem, isFinal: true });

const HTTP_GONE = 410;

function toDeliveryResult(posted: PostResult): DeliveryResult {
  if (posted.kind === 'refused') return permanentFailure('the host of the URL has no public address');
  if (posted.kind === 'failed') return retryableFailure('the host of the URL did not answer in time');
  const { status } = posted;
  if (status >= 200 && status < 300) return delivered;
  if (status === HTTP_GONE) return permanentFailure('the host answered 410: it wants no more of these');
  return retryableFailure(`the host answered ${status}`);
}

async function callWebhook(
  { webhooks, seal }: NoticeChannels,
  target: NoticeTargetTable,
  notice: Notice,
  id: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  if (webhooks === null) return retryableFailure('webhooks are sent by a running gateway alone');
  const webhook = seal.open(target, target.customer_id, target.id);
  if (webhook === null)
    return permanentFailure('the webhook cannot be read with the pepper of today: add it again');
  const refusal = webhooks.refusal(webhook.url);
  if (refusal !== null) return permanentFailure(`the URL ${refusal}`);
  const body = JSON.stringify(notice);
  const headers = signedHeaders(webhook.secret, id, body, nowMs);
  return toDeliveryResult(await webhooks.post(webhook.url, headers, body, signal));
}

async function sendMail(
  { mailer }: NoticeChannels,
  target: NoticeTargetTable,
  notice: Notice,
): Promise<DeliveryResult> {
  if (mailer === null)
    return retryableFailure('no mail server is configured: the operator sets mail.smtp_url');
  try {
    await mailer.send({ to: target.shown, ...renderNotice(notice) });
    return delivered;
  } catch (error) {
    return retryableFailure(error instanceof MailError ? error.message : 'the mail could not be handed over');
  }
}

/** Hands a notice over to a target, once. Never rejects. @param id - the same at each try. */
export function deliverNotice(
  channels: NoticeChannels,
  target: NoticeTargetTable,
  notice: Notice,
  { id, nowMs, signal }: Readonly<{ id: string; nowMs: number; signal: AbortSignal }>,
): Promise<DeliveryResult> {
  return target.kind === 'email'
    ? sendMail(channels, target, notice)
    : callWebhook(channels, target, notice, id, nowMs, signal);
}
