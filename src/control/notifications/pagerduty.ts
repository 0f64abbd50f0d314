import type { AlertNotice, AlertTestNotice } from './notice.ts';

/** Source: PagerDuty, "Send an event", Events API v2. The service region EU has events.eu.pagerduty.com. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

/** Source: as above. */
const SUMMARY_MAX = 1_024;

type PagerDutyEvent = Readonly<Record<string, unknown>>;

/** A trigger, or the resolve event with the same deduplication key. */
export function pagerDutyEvent(
  notice: AlertNotice | AlertTestNotice,
  { routingKey, publicUrl }: Readonly<{ routingKey: string; publicUrl: string | null }>,
): PagerDutyEvent {
  const common = { routing_key: routingKey, client: 'Solway', ...(publicUrl && { client_url: publicUrl }) };
  if (notice.type === 'alert.test') {
    const payload = {
      summary: 'Test of Solway alerts',
      source: 'solway',
      severity: 'info',
      timestamp: notice.at,
    };
    return { ...common, event_action: 'trigger', dedup_key: TEST_KEY, payload };
  }
  const { id, text, network, node, severity, code, since, customer, page } = notice.alert;
  if (notice.type === 'alert.resolved') return { ...common, event_action: 'resolve', dedup_key: id };
  return {
    ...common,
    event_action: 'trigger',
    dedup_key: id,
    payload: {
      summary: text.slice(0, SUMMARY_MAX),
      source: node ?? network ?? 'solway',
      severity: severity === 'error' ? 'critical' : 'warning',
      timestamp: since,
      class: code,
      custom_details: { network, node, customer: customer?.id ?? null },
    },
    ...(publicUrl && { links: [{ href: `${publicUrl}${page}`, text: 'Details' }] }),
  };
}

const TEST_KEY = 'solway-test';

/** Closes the incident that a test has opened. */
export const testResolveEvent = (routingKey: string): PagerDutyEvent => ({
  routing_key: routingKey,
  event_action: 'resolve',
  dedup_key: TEST_KEY,
});
