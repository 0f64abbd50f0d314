import type { Configuration, SenderConfiguration } from '../../config/configuration.ts';
import { probeSender } from '../../upstream/probe/probe-node.ts';
import type { Finding } from './check.ts';

async function checkSender(
  { network, ...endpoint }: SenderConfiguration,
  timeoutMs: number,
): Promise<Finding[]> {
  const subject = `sender ${endpoint.name} (${network})`;
  const { latencyMs, findings } = await probeSender(endpoint, network, timeoutMs);
  if (latencyMs !== null) return [{ subject, verdict: 'good', text: `answers, ${Math.round(latencyMs)} ms` }];
  return findings.map(({ severity, finding, remedy }) => ({
    subject,
    verdict: severity === 'error' ? 'bad' : 'warning',
    text: `${finding} ${remedy}`,
  }));
}

/** Whether the endpoints that take transactions only can be reached. */
export async function checkSenders(
  { senders }: Pick<Configuration, 'senders'>,
  timeoutMs: number,
): Promise<Finding[]> {
  const found = await Promise.all(senders.map((sender) => checkSender(sender, timeoutMs)));
  return found.flat();
}
