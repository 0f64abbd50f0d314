/** Services whose health is told. '' is the server as a whole. Source: grpc.health.v1, health.proto. */
export const servedServices = ['', 'geyser.Geyser', 'shredstream.ShredstreamProxy'] as const;
export type ServedService = (typeof servedServices)[number];

/** Whether new calls of a service should be sent here. Draining is known without it. */
export type HealthFacts = (service: ServedService) => boolean;
