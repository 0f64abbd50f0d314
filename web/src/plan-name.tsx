import { useSession } from './shell/session.tsx';

/** Returns names of plans. A plan that is no longer offered has only its ID. */
export function usePlanNames(): (id: string) => string {
  const { plans } = useSession().service;
  return (id) => plans.find((plan) => plan.id === id)?.name ?? id;
}

export const PlanName = ({ id }: { id: string }) => <span title={id}>{usePlanNames()(id)}</span>;
