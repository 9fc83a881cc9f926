// Checks a dashboard against the schema that Grafana publishes as TypeScript types: check_dashboard.js FILE
//
// A name that the schema does not have is an error, as is a value of the wrong type or a missing one. The schema leaves the
// options of a panel open; those of each type of panel have a schema of their own.
const fs = require('fs');
const Ajv = require('ajv');
const { createGenerator } = require('ts-json-schema-generator');

const types = `${process.env.NODE_PATH}/@grafana/schema/dist/types/raw`;

function validatorOf(file, type) {
  const path = `${types}/${file}/x/types.gen.d.ts`;
  const generator = createGenerator({ path, type, additionalProperties: false, skipTypeCheck: true });
  return new Ajv({ allErrors: true, strict: false }).compile(generator.createSchema(type));
}

const isDashboard = validatorOf('dashboard', 'Dashboard');
const isPanel = validatorOf('dashboard', 'Panel');
const areOptions = new Map();

const faults = [];
function check(validate, value, place) {
  if (validate(value)) return;
  for (const { instancePath, message, params } of validate.errors)
    faults.push(`${place}${instancePath}: ${message} ${JSON.stringify(params)}`);
}

const { panels, ...rest } = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
check(isDashboard, rest, 'dashboard');
for (const panel of panels) {
  check(isPanel, panel, panel.title);
  if (!areOptions.has(panel.type)) areOptions.set(panel.type, validatorOf(`composable/${panel.type}/panelcfg`, 'Options'));
  check(areOptions.get(panel.type), panel.options, `${panel.title}: options`);
}
for (const fault of faults) console.error(fault);
console.log(`${panels.length} panels, ${faults.length} faults`);
process.exitCode = faults.length > 0 || panels.length === 0 ? 1 : 0;
