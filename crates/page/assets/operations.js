// Generated from `agent_operations!`: UPDATE_DOCUMENTS=1 cargo test -p mario-domain operations

/** What the target of each operation of agents is. They are in the order of their codes. */
const OPERATION_TARGETS = {
  undeploy: null,
  migrate: "node",
  replicate: "node",
  adapt: "flavour",
  sleep: null,
  wake: null,
};

/** @typedef {keyof typeof OPERATION_TARGETS} AgentOperation */

/** The operations by their codes. */
const OPERATIONS = /** @type {AgentOperation[]} */ (Object.keys(OPERATION_TARGETS));
