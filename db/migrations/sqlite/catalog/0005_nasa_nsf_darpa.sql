-- An operator may have named one of them before.
INSERT INTO `sources` (`code`, `name`, `description`) VALUES
	('DARPA', 'DARPA', 'Opportunities of the Defense Advanced Research Projects Agency: solicitations, future programs, requests for information and industry days.'),
	('NASA_NSPIRES', 'NASA NSPIRES', 'Research solicitations of NASA, with their release and due dates.'),
	('NASA_ROSES', 'NASA ROSES', 'The programs of a year of Research Opportunities in Space and Earth Sciences, with the due dates of both steps.'),
	('NSF', 'National Science Foundation', 'Funding programs and Dear Colleague Letters of the National Science Foundation.')
ON CONFLICT (`code`) DO NOTHING;
