INSERT INTO `sources` (`code`, `name`, `description`) VALUES
	('CHALLENGE_GOV', 'Challenge.gov', 'Prize competitions and challenges of US federal agencies.'),
	('DSIP', 'DoD SBIR/STTR Innovation Portal', 'SBIR and STTR topics of the Department of Defense, with their questions and answers.'),
	('GRANTS_GOV', 'Grants.gov', 'Grants and cooperative agreements of US federal agencies, forecasts included.'),
	('SAM_GOV', 'SAM.gov', 'Contract opportunities of US federal agencies: sources sought, solicitations, awards and other notices.'),
	('SBIR_GOV', 'SBIR.gov', 'SBIR and STTR solicitations and topics of all participating agencies.'),
	('SIMPLER_GRANTS_GOV', 'Simpler.Grants.gov', 'The search export of the new Grants.gov site.');
