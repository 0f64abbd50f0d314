import {
  type Configuration,
  type SenderConfiguration,
  type UpstreamConfiguration,
  websocketUrlOf,
} from '../../config/configuration.ts';
import { probeGeyser } from '../../upstream/probe/probe-geyser.ts';
import { probeSender } from '../../upstream/probe/probe-node.ts';
import { probePubsub } from '../../upstream/probe/probe-pubsub.ts';
import { probeShreds } from '../../upstream/probe/probe-shreds.ts';
import { hasShreds } from '../upstreams/shreds.ts';
import { feedsSubscriptions } from '../upstreams/upstreams.ts';
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

/** Whether subscriptions can be fed from the node. An address that was only derived may well lead nowhere. */
export async function checkPubsub(node: UpstreamConfiguration, timeoutMs: number): Promise<Finding[]> {
  if (node.ws === null) return [];
  const subject = `PubSub of ${node.name} (${node.network})`;
  const { fault, slot } = await probePubsub(node, timeoutMs);
  if (fault === null) {
    return [{ subject, verdict: 'good', text: slot === null ? 'answers' : `answers, slot ${slot}` }];
  }
  const derived = node.ws === websocketUrlOf(node.url);
  const remedy = derived
    ? 'Its address was derived from url: give the right one as ws, or write ws = "off" if it has none.'
    : 'Check its ws, or write ws = "off" if it has none.';
  const text = `subscriptions cannot be fed from it (${fault}). ${remedy}`;
  return [{ subject, verdict: derived ? 'warning' : 'bad', text }];
}

/** Whether its Geyser feeds subscriptions. */
export async function checkGeyser(
  { grpc, ...node }: UpstreamConfiguration,
  timeoutMs: number,
): Promise<Finding[]> {
  if (typeof grpc !== 'string') return [];
  const subject = `Geyser of ${node.name} (${node.network})`;
  const { fault, slot } = await probeGeyser({ ...node, grpc }, timeoutMs);
  if (fault === null) return [{ subject, verdict: 'good', text: `answers, slot ${slot}` }];
  const text = `subscriptions cannot be fed from it: ${fault}. Check its grpc, or take that out.`;
  return [{ subject, verdict: 'bad', text }];
}

/** Whether the servers of the shred stage take a stream. */
export async function checkShreds(
  configuration: Configuration,
  isDevelopment: boolean,
  timeoutMs: number,
): Promise<Finding[]> {
  const { grpc, shreds } = configuration;
  if (!grpc.enabled) return [];
  if (!hasShreds(configuration, isDevelopment)) {
    const text =
      'nothing tells of it, so svc_fs_live_ keys are refused: name a source in [shreds], if you want it';
    return [{ subject: 'shred stage', verdict: 'warning', text }];
  }
  const kinds = ['entries', 'deshred'] as const;
  const checks = kinds.flatMap((kind) =>
    shreds[kind].map(async (server): Promise<Finding> => {
      const subject = `shred stage of ${server.name}`;
      const fault = await probeShreds(server, kind, timeoutMs);
      if (fault === null) return { subject, verdict: 'good', text: 'takes the stream' };
      const text = `nothing can be heard there: ${fault}. Check its url, or take it out of shreds.${kind}.`;
      return { subject, verdict: 'bad', text };
    }),
  );
  return Promise.all(checks);
}

/**
 * Reports a default network without any usable feed.
 * @param found - findings about the feeds of all reachable nodes.
 */
export function checkAnyFeed(
  { upstreams, networks }: Configuration,
  feedFindings: readonly Finding[],
): Finding[] {
  const nodes = upstreams.filter(({ network }) => network === networks.default);
  if (nodes.length === 0) return [];
  const subject = `subscriptions of ${networks.default}`;
  if (!nodes.some(feedsSubscriptions)) {
    const text = 'no node has PubSub or Geyser, so all are refused: give a ws, or grpc, to one of them';
    return [{ subject, verdict: 'warning', text }];
  }
  const networkFindings = feedFindings.filter(({ subject }) => subject.endsWith(`(${networks.default})`));
  if (networkFindings.length === 0 || networkFindings.some(({ verdict }) => verdict === 'good')) return [];
  return [
    { subject, verdict: 'bad', text: 'no node feeds them, so all are refused: mend what is said above' },
  ];
}
