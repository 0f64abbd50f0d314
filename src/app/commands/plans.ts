import { type ApiClient, bodyOf, remoteApi } from '../../control/api/client.ts';
import type { RouteInput } from '../../control/api/contract/contract.ts';
import { checkStoreExists } from '../store.ts';
import { type OfflineOptions, withOfflineApi } from './offline-api.ts';

type CreateBody = RouteInput<'POST /plans'>['body'];
export type PlanInput = RouteInput<'PATCH /plans/{plan}'>['body'];

export type PlanCommands = ReturnType<typeof commandsOf>;

const commandsOf = (api: ApiClient) => ({
  list: async () => (await api.call('GET /plans', {})).plans,
  create: async (id: string, input: PlanInput) =>
    api.call('POST /plans', { body: bodyOf<CreateBody>({ id, ...input }) }),
  change: async (plan: string, input: PlanInput) =>
    api.call('PATCH /plans/{plan}', { path: { plan }, body: bodyOf<PlanInput>(input) }),
  undo: async (plan: string) => api.call('POST /plans/{plan}/undo', { path: { plan } }),
  archive: async (plan: string) => api.call('POST /plans/{plan}/archive', { path: { plan } }),
  restore: async (plan: string) => api.call('POST /plans/{plan}/restore', { path: { plan } }),
  delete: async (plan: string) => api.call('DELETE /plans/{plan}', { path: { plan } }),
});

/** @throws the same errors as `withOfflineApi` */
export async function withPlanCommands<Result>(
  options: OfflineOptions,
  work: (commands: PlanCommands) => Promise<Result>,
): Promise<Result> {
  checkStoreExists(options.configuration);
  return withOfflineApi(options, (api) => work(commandsOf(api)));
}

export const remotePlanCommands = (url: string, token: string): PlanCommands =>
  commandsOf(remoteApi({ url, token }));
