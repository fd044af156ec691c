// Functions for nodes of ../javascript.yaml.
import {node, serve} from 'pawl';

node('report', (state) => ({report: `${state.prices.length} prices, ${state.sum.toFixed(2)} in all`}));

serve();
